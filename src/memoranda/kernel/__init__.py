"""Room 1: errors, ids, clock, actors, scopes, strict JSON, rules. Imports nothing of ours."""
