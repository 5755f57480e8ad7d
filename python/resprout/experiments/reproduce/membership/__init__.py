"""Scalable, Fault-Tolerant Membership (ICS 2006): its models, and the protocol simulated beside."""
