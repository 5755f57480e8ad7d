"""What figures depend on, apart from what was measured."""

import os
import platform
import re
from datetime import date
from pathlib import Path

from resprout import __version__


def about_this_machine() -> dict[str, object]:
    models = re.findall(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return {
        "resprout": __version__,
        "date": date.today().isoformat(),
        "processor": f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}",
    }
