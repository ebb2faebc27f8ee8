"""What other memories export, read as arrivals."""
