"""`resprout bench returns`: what checkpoints cost, and how soon a job computes again."""
