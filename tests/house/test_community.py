"""What strangers and machines read beside the code: workflows, forms, hooks, how to cite."""

import re
from pathlib import Path

import pytest
import yaml
from resprout import __version__
from sources import ROOT

FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKE_TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def loaded(path: Path):
    return yaml.safe_load(path.read_text())


def commands(workflow) -> list[str]:
    return [s["run"] for job in workflow["jobs"].values() for s in job["steps"] if "run" in s]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_make_targets_that_there_are(path):
    workflow = loaded(path)
    # YAML takes the word `on` for a truth value.
    assert set(workflow) >= {"name", True, "jobs", "permissions"}
    called = {word for run in commands(workflow) for word in re.findall(r"\bmake (\w+)", run)}
    assert called
    assert called <= MAKE_TARGETS


def test_every_change_is_built_by_both_compilers_tested_sanitized_and_packed():
    jobs = loaded(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]
    assert jobs["clang"]["env"]["CXX"] == "clang++"
    called = {word for run in commands({"jobs": jobs}) for word in re.findall(r"make (\w+)", run)}
    assert called == {"test", "build", "demo", "sanitize", "wheel"}


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_has_what_it_is_for_and_what_it_asks(path):
    form = loaded(path)
    if path.stem == "config":
        assert form == {"blank_issues_enabled": True}
        return
    assert {"name", "description", "body"} <= set(form)
    assert all(field["attributes"]["label"] for field in form["body"])
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))


def test_hooks_run_tools_that_lint_runs():
    lint = (ROOT / "tests" / "lint.py").read_text()
    (local,) = loaded(ROOT / ".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"
    for hook in local["hooks"]:
        tool, _, _ = hook["entry"].partition(" ")
        assert tool.startswith(".venv/bin/")
        assert f"{{BIN}}/{tool.removeprefix('.venv/bin/')}" in lint


def test_it_is_cited_by_the_version_that_it_says_it_is():
    citation = loaded(ROOT / "CITATION.cff")
    assert {"cff-version", "title", "message", "authors", "license"} <= set(citation)
    assert citation["version"] == __version__


def test_owners_are_named_for_folders_that_there_are():
    lines = (ROOT / ".github" / "CODEOWNERS").read_text().splitlines()
    for line in lines:
        if line.startswith("/"):
            assert (ROOT / line.split()[0].strip("/")).is_dir(), line
