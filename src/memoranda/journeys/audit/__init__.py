"""Auditing: reading only, and believing nothing that can be derived anew."""
