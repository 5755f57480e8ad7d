"""What this machine offers, apart from an MPI."""

import os
import resource
import socket
from collections.abc import Iterator

from resprout.doctor.check import Check, Verdict
from resprout.doctor.reading import check_reading

_SHM_BYTES_MIN = 64 << 20
_FILES_MIN = 1024


def check_machine() -> Iterator[Check]:
    yield _shared_memory()
    yield _pidfd()
    yield check_reading()
    yield _loopback()
    yield _limits()


def _shared_memory() -> Check:
    name = "shared memory"
    try:
        free = os.statvfs("/dev/shm")
    except OSError as error:
        text = f"/dev/shm is not there ({error.strerror}): use --transport tcp"
        return Check(name, Verdict.BAD, text)
    if not os.access("/dev/shm", os.W_OK):
        return Check(name, Verdict.BAD, "/dev/shm cannot be written to: use --transport tcp")
    size = free.f_bavail * free.f_frsize
    text = f"/dev/shm has {size >> 20} MiB free"
    if size < _SHM_BYTES_MIN:
        text += ", which is little; containers take --shm-size"
        return Check(name, Verdict.DOUBTFUL, text)
    return Check(name, Verdict.GOOD, text)


def _pidfd() -> Check:
    name = "deaths on this host"
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError) as error:
        text = f"pidfd_open does not work ({error}): the kernel must be 5.3 or newer"
        return Check(name, Verdict.BAD, text)
    return Check(name, Verdict.GOOD, "pidfd works: seen within a millisecond")


def _loopback() -> Check:
    name = "loopback"
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = server.getsockname()
            with socket.create_connection(address, timeout=5) as client:
                accepted, _ = server.accept()
                with accepted:
                    client.sendall(b"x")
                    accepted.recv(1)
    except OSError as error:
        return Check(name, Verdict.BAD, f"TCP to 127.0.0.1 does not work: {error}")
    return Check(name, Verdict.GOOD, "TCP to 127.0.0.1 works")


def _limits() -> Check:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    cores = len(os.sched_getaffinity(0))
    text = f"{cores} cores, {soft} open files a process"
    if 0 <= soft < _FILES_MIN:
        text += f"; a rank needs a few for each rank of its host (ulimit -n {_FILES_MIN})"
        return Check("limits", Verdict.DOUBTFUL, text)
    return Check("limits", Verdict.GOOD, text)
