"""`resprout bench replication`: what comparing replicas costs, by method."""
