#!/usr/bin/python3
"""The command `resprout`, with the Python packages that stand in a folder of its own."""

import sys

sys.path.insert(0, "/usr/lib/resprout")

from resprout.cli import main

sys.exit(main())
