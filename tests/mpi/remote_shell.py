"""Starts commands on hosts (tests/namespaces.py) for an MPI launcher, as ssh and sshd do.

    python remote_shell.py SOCKET [OPTION]... nodeB COMMAND

asks `Server` for it and ends with the command. As with ssh, what runs there does not descend from
the launcher, has none of its environment, and goes on when the connection is lost.
"""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# How tests find the processes of a job again (jobs.py), and where these leave temporary files.
_PASSED_ON = ("JOB_UNDER_TEST", "TMPDIR")
_BYTES_MAX = 1 << 20
# Before the status; no program here says it.
_END = b"\0"


@contextmanager
def serving(tool: Path, folder: Path) -> Iterator[Path]:
    """The program that an MPI launcher is to call instead of ssh, as long as the block lasts."""
    path = folder / "shell"
    agent = folder / "agent"
    agent.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} {path} "$@"\n')
    agent.chmod(0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(64)
        acceptor = threading.Thread(target=_accept, args=(listener, tool), daemon=True)
        acceptor.start()
        try:
            yield agent
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            acceptor.join()


def _accept(listener: socket.socket, tool: Path) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_serve, args=(connection, tool), daemon=True).start()


def _serve(connection: socket.socket, tool: Path) -> None:
    with connection:
        asked = json.loads(connection.recv(_BYTES_MAX))
        # Where sshd is, and not where the launcher is.
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PRTE_"))}
        process = subprocess.Popen(
            [tool, "in", asked["host"], "bash", "-c", asked["command"]],
            env=environment | asked["environment"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdout is not None
        with process.stdout as output:
            while chunk := os.read(output.fileno(), _BYTES_MAX):
                with suppress(OSError):  # who asked is gone
                    connection.sendall(chunk)
        with suppress(OSError):
            connection.sendall(_END + str(process.wait()).encode())
        process.wait()


def ask(path: str, words: list[str]) -> int:
    """The command's status; what it says goes to stderr."""
    while words[0].startswith("-"):
        words = words[1:]
    # Any name of nodeB begins with it.
    asked = {"host": words[0].removeprefix("node")[0], "command": " ".join(words[1:])}
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(json.dumps({**asked, "environment": passed_on}).encode())
        status = b""
        while chunk := connection.recv(_BYTES_MAX):
            said, end, digits = chunk.partition(_END)
            os.write(2, said)
            status = digits if end else status
    return int(status or b"255") & 0xFF


if __name__ == "__main__":
    sys.exit(ask(sys.argv[1], sys.argv[2:]))
