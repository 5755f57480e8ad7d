"""What subcommands have in common: options of the table, and help with examples."""

import typer

from resprout.options import BY_FLAG

# As mpirun has it.
RANKS = typer.Option("-n", "-np", "--ranks", "--np", min=1, help="How many processes.")
PROGRAM = typer.Argument(metavar="-- PROGRAM [ARG]...", show_default=False)


def table_option(flag: str, *short: str) -> typer.models.OptionInfo:
    """An option of the table in options.py."""
    option = BY_FLAG[flag]
    info: typer.models.OptionInfo = typer.Option(
        flag,
        *short,
        envvar=option.variable,
        help=option.cli_help,
        metavar=option.metavar or None,
        show_default=False,
    )
    return info


def with_examples(text: str) -> str:
    """Help whose first block of examples is shown as it stands."""
    return text.replace("\n    ", "\n\n    ", 1)
