"""Maintenance: copies and backups, each verified before it is believed."""
