"""The records of one scope in PostgreSQL."""



