"""A paper that can be reproduced: its experiments, and what its page says besides."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from resprout.errors import UserError
from resprout.experiments.reproduce.experiment import Experiment

ALL = "all"


@dataclass(frozen=True)
class Paper:
    name: str
    title: str
    experiments: tuple[Experiment, ...]
    remarks: tuple[str, ...]
    """Of the page."""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Figures that cannot be simulated: why not, and what to do instead."""

    def chosen(self, figure: str) -> tuple[Experiment, ...]:
        names = [experiment.name for experiment in self.experiments]
        if figure == ALL:
            return self.experiments
        if figure in self.elsewhere:
            raise UserError(f"{figure} of {self.name} {self.elsewhere[figure]}")
        if figure not in names:
            raise UserError(f"{figure!r} is not of {self.name}; give {', '.join([*names, ALL])}")
        return (self.experiments[names.index(figure)],)
