"""The doors of a server: which keys there are, who comes with one, and how often."""
