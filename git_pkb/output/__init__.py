"""Printers: results in, text out. human.py for people and pipes, jsonout.py for programs."""
