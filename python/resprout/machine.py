"""What figures depend on, apart from what was measured."""

import os
import platform
import re
from datetime import date
from pathlib import Path

from resprout import __version__


def processor() -> str:
    models = re.findall(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return str(models[0]) if models else platform.machine()


def about_this_machine() -> dict[str, object]:
    return {
        "resprout": __version__,
        "date": date.today().isoformat(),
        "processor": f"{processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}",
    }
