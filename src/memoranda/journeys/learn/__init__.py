"""The story of learning: facts out of conversations, what is known already, and what denies it."""
