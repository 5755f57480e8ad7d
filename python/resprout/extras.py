"""What `pip install resprout` leaves out, and by which extra it comes.

`resprout run` needs none of it. A command that does asks at its beginning, before it has worked.
"""

from importlib.util import find_spec

from resprout.errors import UserError

# As in pyproject.toml: each extra, and the modules that are there with it.
MODULES = {
    "plot": ("matplotlib",),
    "campaign": ("pyarrow", "duckdb"),
    "cluster": ("distributed",),
}


def need(what: str, *extras: str) -> None:
    """Refuse if a module of these extras is missing. `what` needs them: the subject of the line."""
    modules = [module for extra in extras for module in MODULES[extra] if not _is_there(module)]
    if modules:
        missing = [extra for extra in extras if not all(map(_is_there, MODULES[extra]))]
        raise UserError(
            f"{what} needs {' and '.join(modules)}, which this Python does not have; "
            f"get it with `pip install 'resprout[{','.join(missing)}]'`"
        )


def _is_there(module: str) -> bool:
    return find_spec(module) is not None
