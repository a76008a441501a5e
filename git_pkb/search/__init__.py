"""The read side: from a question and an up-to-date cache to what is shown."""
