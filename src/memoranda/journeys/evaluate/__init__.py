"""How well recall finds: measured on questions whose answers are known."""
