"""`resprout campaign` and `resprout query`: simulations by the thousand, and SQL over them."""
