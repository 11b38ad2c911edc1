"""Ratios against peers, one file a question; see README.md."""
