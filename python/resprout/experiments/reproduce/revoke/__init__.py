"""The figures of Plan B (Revoke) as far as a LogP machine can show them."""
