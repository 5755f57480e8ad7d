"""For all tests: jobs under test get signals as they would from a terminal."""

import signal

# A shell has what it runs in the background ignore these two, and children inherit that.
for _number in (signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)
