"""How well recall finds, on questions whose answers are known (docs/evaluation.md)."""
