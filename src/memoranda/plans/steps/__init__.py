"""The eight types of steps that memoranda brings along; each can be replaced by another.

What a step needs beyond its inputs is handed to its constructor as a small port: so a step that is
handed no store has no way to one (ING-STAGE).
"""
