"""What measures and simulates: benchmarks, calibration, campaigns, the reproduction of the papers.

No job of a user needs it. It may use all else of this package; of that only the command line and
`resprout.notebook` use it.
"""
