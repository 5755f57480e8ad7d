"""`resprout doctor`: what there is, what is set and why, and what will not work here."""
