"""However a program finds MPI's functions, and whatever tool stands between, Resprout is there."""

import subprocess
from pathlib import Path

import jobs
import pytest

PROFILED = jobs.PROGRAMS / "profiled"
SOURCE = jobs.ROOT / "tests" / "mpi" / "programs" / "profiled.c"


@pytest.mark.parametrize("how", ["calls", "lookup", "deep"])
def test_a_loss_is_survived_however_functions_are_found(how: str) -> None:
    ended = jobs.resprout_run(3, [PROFILED, how, "1"])
    assert ended.status == 0 and ended.lost == {1}, str(ended)
    assert ended.out == "2 are here\n" and ended.calls("allreduce") == 40, str(ended)


def compiled(folder: Path, name: str, *words: str) -> Path:
    made = folder / name
    command = [jobs.BIN / "mpicc", "-o", made, *words]
    subprocess.run([str(word) for word in command], check=True)
    return made


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tool")
    return compiled(folder, "libtool.so", "-DTOOL", "-shared", "-fPIC", str(SOURCE))


def expect_both(ended: jobs.Ended) -> None:
    assert ended.status == 0 and ended.lost == {1}, str(ended)
    assert sorted(ended.out.splitlines()) == ["2 are here", "the tool saw 20"], str(ended)
    assert ended.calls("allreduce") == 40, str(ended)


def test_a_tool_that_is_preloaded_sees_all_calls(tool: Path) -> None:
    program = [PROFILED, "calls", "1"]
    expect_both(jobs.resprout_run(3, program, variables={"LD_PRELOAD": str(tool)}))


@pytest.mark.parametrize("order", ['{0}:"$LD_PRELOAD"', '"$LD_PRELOAD":{0}'])
def test_a_script_may_put_the_tool_on_either_side(tool: Path, order: str) -> None:
    script = f"LD_PRELOAD={order.format(tool)} exec {PROFILED} calls 1"
    expect_both(jobs.resprout_run(3, ["sh", "-c", script]))


@pytest.mark.parametrize("flags", [[], ["-Wl,-z,now,-z,relro"], ["-no-pie"]])
def test_a_tool_that_is_linked_sees_all_calls(tool: Path, tmp_path: Path, flags: list[str]) -> None:
    library = ["-L", str(tool.parent), "-ltool", f"-Wl,-rpath,{tool.parent}"]
    program = compiled(tmp_path, "program", *flags, str(SOURCE), *library)
    expect_both(jobs.resprout_run(3, [program, "calls", "1"]))


@pytest.mark.parametrize("preload", ["", "libasan.so"])
def test_the_runtime_of_a_sanitizer_comes_first(preload: str, tmp_path: Path) -> None:
    program = compiled(tmp_path, "program", "-fsanitize=address", str(SOURCE))
    variables = {"ASAN_OPTIONS": "detect_leaks=0"}
    if preload:
        words = [jobs.BIN / "mpicc", f"-print-file-name={preload}"]
        variables["LD_PRELOAD"] = subprocess.check_output(words, text=True).strip()
    ended = jobs.resprout_run(3, [program, "calls", "1"], variables=variables)
    assert ended.status == 0 and ended.lost == {1}, str(ended)
    assert ended.out == "2 are here\n" and ended.calls("allreduce") == 40, str(ended)
