"""The journey of an intent: propose, decide, recall, freeze, run, seal, remember; and replay."""
