"""The store for more than one machine: PostgreSQL, through psycopg."""
