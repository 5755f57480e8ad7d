"""Arrows between layers only point down, and the two worlds do not know each other."""

import re
from pathlib import Path

import pytest
from ratchets import FLOORS
from sources import CPP, ROOT, files, name

# What each folder of src/ may include besides itself.
MAY_INCLUDE = {
    "core": set(),
    "topology": {"core"},
    "protocols": {"core", "topology"},
    "registry": {"core", "topology", "protocols"},
    "sim": {"core", "topology", "protocols", "registry"},
    "runtime": {"core", "topology", "protocols"},
    "openmpi": set(),
    "mpi": {"core", "topology", "protocols", "registry", "runtime", "openmpi"},
    "bindings": {"core", "topology", "protocols", "registry", "sim", "runtime"},
    "launcher": set(),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
# MPI is the shim's alone; sockets, threads and clocks belong to the two worlds.
FORBIDDEN = {
    "core topology protocols": r"(mpi|thread|mutex|chrono|unistd|sys/.*|iostream|functional|string"
    r"|vector|map|memory|random)(\.h)?$",
    "registry sim": r"(mpi|sys/socket|thread|mutex)(\.h)?$",
    "runtime": r"mpi\.h$",
}


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT / "src").parts[0]


def upward_includes(layer: str, text: str) -> list[str]:
    """The includes of other layers that this layer may not know."""
    folders = set(MAY_INCLUDE)
    return [
        included
        for included in INCLUDE.findall(text)
        if (target := included.split("/")[0]) in folders
        and target != layer
        and target not in MAY_INCLUDE[layer]
    ]


def test_every_folder_of_src_has_a_place_in_the_order():
    assert {layer_of(path) for path in files(CPP, "src")} <= set(MAY_INCLUDE)


def test_every_folder_of_the_shim_is_a_floor():
    assert {path.relative_to(ROOT / "src" / "mpi").parts[0] for path in files(CPP, "src/mpi")} == (
        set(FLOORS)
    )


def test_no_include_points_upwards():
    wrong = {
        name(path): bad
        for path in files(CPP, "src")
        if (bad := upward_includes(layer_of(path), path.read_text()))
    }
    assert not wrong


def test_includes_are_relative_to_src():
    wrong = [
        f"{name(path)}: {included}"
        for path in files(CPP, "src")
        for included in INCLUDE.findall(path.read_text())
        if included.startswith(".")
    ]
    assert not wrong


@pytest.mark.parametrize("layers", FORBIDDEN)
def test_no_layer_includes_what_it_must_not_know(layers):
    pattern = re.compile(FORBIDDEN[layers])
    wrong = [
        f"{name(path)}: {included}"
        for layer in layers.split()
        if (ROOT / "src" / layer).is_dir()
        for path in files(CPP, f"src/{layer}")
        if not path.stem.endswith("_test")
        for included in INCLUDE.findall(path.read_text())
        if pattern.match(included)
    ]
    assert not wrong


def test_an_include_that_points_upwards_is_seen():
    assert upward_includes("sim", '#include "runtime/engine.hpp"\n') == ["runtime/engine.hpp"]
    assert upward_includes("core", '  # include "topology/tree.hpp"') == ["topology/tree.hpp"]
    assert not upward_includes("mpi", '#include "runtime/engine.hpp"\n#include <mpi.h>\n')
