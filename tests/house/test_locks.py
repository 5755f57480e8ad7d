"""Which mutex guards what is checked by clang, and is no comment."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLANG_TIDY = ROOT / ".venv" / "bin" / "clang-tidy"
# The mutexes themselves; and the engine's lock, which whoever has it shows as an argument.
MAY_USE_OTHERS = {"src/runtime/mutex.hpp", "src/runtime/progress.hpp"}
OTHERS = re.compile(r"std::(recursive_|shared_|timed_)?mutex\b|std::(lock_guard|scoped_lock)\b")
PROGRAM = """\
#include "runtime/mutex.hpp"

class Counter {
 public:
  void count() {
    %s
    ++counted_;
  }

 private:
  resprout::runtime::Mutex mutex_;
  int counted_ RESPROUT_GUARDED_BY(mutex_) = 0;
};

int main() { Counter().count(); }
"""


def test_the_shim_and_the_runtime_have_no_mutex_that_is_not_checked() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for folder in ("src/runtime", "src/mpi")
        for path in sorted((ROOT / folder).rglob("*.[ch]pp"))
        if not re.search(r"_test\.[ch]pp$", path.name)
        and str(path.relative_to(ROOT)) not in MAY_USE_OTHERS
        for line in path.read_text().splitlines()
        if OTHERS.search(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("taken", "is_right"),
    [("const resprout::runtime::MutexLock lock(mutex_);", True), ("", False)],
)
def test_who_touches_what_is_guarded_without_its_mutex_is_found(
    tmp_path: Path, taken: str, is_right: bool
) -> None:
    source = tmp_path / "counter.cpp"
    source.write_text(PROGRAM % taken)
    command = [CLANG_TIDY, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", source]
    done = subprocess.run(
        [*command, "--", "-std=c++20", f"-I{ROOT / 'src'}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode == 0) == is_right, done.stdout + done.stderr
    assert ("requires holding mutex 'mutex_'" in done.stdout) != is_right, done.stdout
