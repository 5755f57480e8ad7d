"""How often to write checkpoints, and what a job loses with each way to bear losses."""
