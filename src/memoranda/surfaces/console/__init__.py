"""The web console: pages for people, over the same operations as every other door."""
