"""The figures of memoranda: side by side with its floor and its neighbours, as ratios."""
