"""Governed memory: records whose every change is an entry of the scope's journal."""
