"""Figures as a file of OpenMetrics text, which collectors of Prometheus read.

The grammar: https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md.
Families have no type `info`: the collector for text files of Prometheus refuses it. A gauge whose
name ends in `_info` and whose value is 1 is what others write, too.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PREFIX = "resprout_"
Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Family:
    """What is measured. A counter only grows; the name of its samples ends in `_total`."""

    name: str
    """Without the prefix. It ends in the unit, if there is one."""
    type: str
    """gauge or counter."""
    help: str
    unit: str = ""


@dataclass
class Exposition:
    """All that one file says. Counters never fall, whatever is set."""

    common: Mapping[str, str] = field(default_factory=dict)
    """Labels of all samples."""
    _samples: dict[Family, dict[Labels, float]] = field(default_factory=dict)

    def set(self, family: Family, value: float, **labels: str) -> None:
        samples = self._samples.setdefault(family, {})
        key = (*self.common.items(), *labels.items())
        is_counter = family.type == "counter"
        samples[key] = max(value, samples.get(key, 0)) if is_counter else value

    def text(self) -> str:
        lines = []
        for family, samples in self._samples.items():
            name = PREFIX + family.name
            lines.append(f"# TYPE {name} {family.type}")
            if family.unit:
                lines.append(f"# UNIT {name} {family.unit}")
            lines.append(f"# HELP {name} {_escaped(family.help)}")
            suffix = "_total" if family.type == "counter" else ""
            lines += [f"{name}{suffix}{_labels(key)} {value!r}" for key, value in samples.items()]
        return "\n".join([*lines, "# EOF\n"])

    def write(self, path: Path) -> None:
        """Who reads finds the old text or the new one, whole. Raises OSError.

        It is not waited for the disk: after a loss of power the file is of no use anyway.
        """
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            temporary.write_text(self.text(), encoding="utf-8")
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _labels(labels: Labels) -> str:
    words = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{words}}}" if words else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
