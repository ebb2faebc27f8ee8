"""Room 5: the contracts as pytest functions, for our stores and for yours."""
