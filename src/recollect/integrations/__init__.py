"""Room 7: recollect inside other frameworks."""
