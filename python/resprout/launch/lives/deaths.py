"""Hears of processes that end, whoever their parents are, without asking again and again.

The kernel says so through a pidfd. A thread waits for that and wakes the launcher's main loop,
which sleeps until a signal comes (launch/job.py).
"""

import contextlib
import os
import select
import signal
import threading


class Deaths:
    """Of processes of this host. REQUIRES: SIGCHLD is blocked in all threads."""

    def __init__(self) -> None:
        self._poll = select.epoll()
        self._has_news = threading.Event()
        self._is_listening = False

    def watch(self, pid: int) -> None:
        """There is news when it ends; at once, if it has ended."""
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            self._tell()
            return
        except OSError:  # too many are open: whoever looks now and then sees it, too
            return
        self._poll.register(descriptor, select.EPOLLIN)
        if not self._is_listening:
            self._is_listening = True
            threading.Thread(target=self._listen, daemon=True).start()

    def has_news(self) -> bool:
        """Whether any has ended since it was asked last."""
        is_new = self._has_news.is_set()
        self._has_news.clear()
        return is_new

    def _listen(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while True:
                for descriptor, _ in self._poll.poll():
                    # A process that we are about to start may have it, too, for a moment.
                    self._poll.unregister(descriptor)
                    os.close(descriptor)
                self._tell()

    def _tell(self) -> None:
        self._has_news.set()
        os.kill(os.getpid(), signal.SIGCHLD)
