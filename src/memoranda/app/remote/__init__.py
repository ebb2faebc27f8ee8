"""A handle whose verbs are carried out by a server: the same API, over HTTP."""
