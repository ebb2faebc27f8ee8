"""What other memories export, read as arrivals: what is to be remembered, and what is said of it."""
