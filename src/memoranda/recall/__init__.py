"""Room 4: interpreted recall, which degrades and says so: selectors, traces, verification."""
