"""The story of a recall: selected, verified, written down, and only then handed out."""
