"""Room 7: memoranda inside other frameworks."""
