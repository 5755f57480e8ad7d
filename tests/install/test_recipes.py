"""The recipes of package managers can be read, and are for the version that there is."""

import re
import subprocess

import pytest
import yaml
from resprout import __version__
from strangers import ROOT

PACKAGING = ROOT / "packaging"


def check_shell(text: str, shell: str = "sh") -> None:
    done = subprocess.run([shell, "-n"], input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def sections(definition: str) -> dict[str, str]:
    """Of a definition of Apptainer: what stands below each `%name`."""
    parts = re.split(r"^%(\w+)$", definition, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_conda_builds_this_version_with_an_mpi_that_can_lose_processes():
    recipe = yaml.safe_load((PACKAGING / "conda" / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == __version__
    for stage in ("host", "run"):
        assert "openmpi >=5.0,<6" in recipe["requirements"][stage]
    check_shell("\n".join(recipe["build"]["script"]), "bash")


def test_debian_builds_this_version():
    first, _, _ = (PACKAGING / "debian" / "changelog").read_text().partition("\n")
    assert f"({__version__}-" in first
    rules = ["make", "--dry-run", "-f", PACKAGING / "debian" / "rules", "override_dh_auto_test"]
    subprocess.run(rules, check=True, stdout=subprocess.DEVNULL)


def test_spack_reads_its_recipe():
    path = PACKAGING / "spack" / "packages" / "resprout" / "package.py"
    compile(path.read_text(), str(path), "exec")


@pytest.mark.parametrize("section", ["post", "environment", "runscript", "test"])
def test_the_shell_reads_what_apptainer_runs(section):
    definition = (PACKAGING / "apptainer" / "resprout.def").read_text()
    check_shell(sections(definition)[section])
