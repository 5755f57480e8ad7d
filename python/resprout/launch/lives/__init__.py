"""Starting a whole job again after a loss: its lives, one after the other."""
