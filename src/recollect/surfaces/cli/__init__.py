"""The command ``recollect``: parse, call, present. Needs the extra ``cli``."""
