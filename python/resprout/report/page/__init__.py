"""The report as a page with pictures, and as a list of what happened, from its JSON."""
