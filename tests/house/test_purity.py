"""core, topology and protocols know neither clocks, sockets, MPI, threads, heap nor global state.

Seen from their object files: from outside they need nothing but four functions that compilers call
by themselves, and they have no variables.
"""

import re
import subprocess
from pathlib import Path

from sources import BUILD, ROOT, files

LAYERS = ("core", "topology", "protocols")
# What compilers call by themselves: for copies and comparisons, on some systems to check the stack.
ALLOWED = {"memcpy", "memmove", "memset", "memcmp", "__stack_chk_fail", "_GLOBAL_OFFSET_TABLE_"}
# May be there or not: src/core/invariant.hpp.
ALLOWED.add("_ZN8resprout10say_brokenEPKcS1_i")
LIBRARY = BUILD / "lib" / "libresprout_protocols.a"
SYMBOL = re.compile(r"^[0-9a-f]{8,} .{7} (\S+)\t[0-9a-f]+ (?:\.hidden |\.internal )?(.+)$")
VARIABLES = re.compile(r"\.t?(data|bss)(?!\.rel\.ro)|\*COM\*")
FLAGS = ["-std=c++20", "-fno-exceptions", "-fno-rtti", "-fPIC", f"-I{ROOT}/src"]


def impurities(binary: Path) -> set[str]:
    """What an object file or archive needs from outside, and the variables that it has."""
    command = ["objdump", "--syms", str(binary)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    symbols = [match.groups() for line in listing.splitlines() if (match := SYMBOL.match(line))]
    assert symbols, f"no symbols read from {binary}"
    needed = {symbol for section, symbol in symbols if section == "*UND*"}
    present = {symbol for section, symbol in symbols if section != "*UND*"}
    variables = {
        symbol for section, symbol in symbols if VARIABLES.match(section) and symbol != section
    }
    return (needed - present - ALLOWED) | variables


def compiled(folder: Path, source: str, *flags: str) -> Path:
    text, binary = folder / "unit.cpp", folder / "unit.o"
    text.write_text(source)
    subprocess.run(["g++", *FLAGS, *flags, "-c", str(text), "-o", str(binary)], check=True)
    return binary


def inline_impurities(folder: Path, source: str) -> set[str]:
    """The same of the inline functions in namespace resprout, whether they are called or not."""
    unit = compiled(folder, source, "-O2", "-fkeep-inline-functions", "-ffunction-sections")
    # Linking drops what only the inline functions of the standard library would need.
    exported, linked = folder / "exported.map", folder / "linked.so"
    exported.write_text('{ global: extern "C++" { resprout::*; }; local: *; };')
    flags = ["-shared", "-nostdlib", "-Wl,--gc-sections", f"-Wl,--version-script={exported}"]
    subprocess.run(["g++", *flags, str(unit), "-o", str(linked)], check=True)
    return impurities(linked)


def test_the_lower_layers_need_nothing_from_outside():
    assert LIBRARY.exists(), "build first: make build"
    assert not impurities(LIBRARY)


def test_inline_functions_of_the_lower_layers_need_nothing_from_outside(tmp_path):
    headers = [path for layer in LAYERS for path in files({".hpp"}, f"src/{layer}")]
    source = "".join(
        f'#include "{path.relative_to(ROOT / "src")}"\n'
        for path in headers
        if not path.stem.endswith("_test")
    )
    assert not inline_impurities(tmp_path, source)


def test_memory_that_an_inline_function_takes_is_seen(tmp_path):
    source = "#include <optional>\nnamespace resprout { inline int* take() { return new int; } }\n"
    assert inline_impurities(tmp_path, source) == {"_Znwm"}


def test_memory_from_the_heap_is_seen(tmp_path):
    source = "#include <cstdlib>\nvoid* take(std::size_t n) { return std::malloc(n); }\n"
    assert impurities(compiled(tmp_path, source)) == {"malloc"}


def test_operator_new_a_clock_and_stderr_are_seen(tmp_path):
    source = (
        "#include <cstdio>\n#include <ctime>\n"
        'int* now() { std::fputs("now", stderr); return new int(int(std::time(nullptr))); }\n'
    )
    found = impurities(compiled(tmp_path, source, "-O2"))
    assert {"time", "stderr", "_Znwm"} <= found


def test_global_state_is_seen_and_a_table_of_constants_is_not(tmp_path):
    source = (
        "static int calls; int count() { static int zero = 7; return calls++ + zero++; }\n"
        'extern const char* const names[2]; const char* const names[2] = {"a", "b"};\n'
        "thread_local int mine; int& get() { return mine; }\n"
    )
    found = impurities(compiled(tmp_path, source)) - {"__tls_get_addr"}
    assert found == {"_ZL5calls", "_ZZ5countvE4zero", "mine"}
