"""The figures of recollect: side by side with its floor and its neighbours, as ratios."""
