"""`python -m resprout` is the command `resprout`."""

import sys

from resprout.cli import main

sys.exit(main())
