"""`resprout bench membership`: from the death of a member to the last one's new view."""
