"""Whether processes of this user may read each other's memory, as large broadcasts do.

Tried by two that are siblings, as ranks are: Yama lets a process read its descendants' only.
"""

import errno
import os
import subprocess
import sys
from pathlib import Path

from resprout.doctor.check import Check, Verdict

NAME = "reading memory"
_YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
_OWNER = """
import ctypes, os, sys
data = ctypes.create_string_buffer(b"offered")
print(os.getpid(), ctypes.addressof(data), flush=True)
sys.stdin.read()
"""
# Its status: that of the system, or 0 if it has read what is there.
_READER = """
import ctypes, sys
class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]
data = ctypes.create_string_buffer(len(b"offered"))
into = Part(ctypes.addressof(data), len(data))
there = Part(int(sys.argv[2]), len(data))
read = ctypes.CDLL(None, use_errno=True).process_vm_readv
pid, one, none = ctypes.c_int(int(sys.argv[1])), ctypes.c_ulong(1), ctypes.c_ulong(0)
count = read(pid, ctypes.byref(into), one, ctypes.byref(there), one, none)
sys.exit(0 if data.raw == b"offered" else ctypes.get_errno() if count < 0 else 255)
"""


def check_reading() -> Check:
    return verdict_of(try_reading())


def try_reading(shift: int = 0) -> int:
    """The error with which the system refuses it, so many bytes beside what is offered; 0: none."""
    with subprocess.Popen(
        [sys.executable, "-c", _OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        pid, address = owner.stdout.readline().split()
        words = [sys.executable, "-c", _READER, pid, str(int(address) + shift)]
        return subprocess.run(words, stderr=subprocess.DEVNULL, check=False).returncode


def verdict_of(error: int) -> Check:
    if error == 0:
        text = "processes may read each other's: large broadcasts of a host are one copy"
        return Check(NAME, Verdict.GOOD, text)
    why = os.strerror(error)
    if error == errno.EPERM and _YAMA.exists():
        why += f"; kernel.yama.ptrace_scope is {_YAMA.read_text().strip()}, and 0 allows it"
    text = f"processes may not read each other's ({why}): large broadcasts of a host go in slices"
    return Check(NAME, Verdict.DOUBTFUL, text)
