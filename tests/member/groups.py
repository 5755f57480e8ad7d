"""Groups of real members whose views are checked whenever they agree."""

from collections.abc import Iterable

from resprout.member import group
from resprout.member.group import PATIENCE, Process

__all__ = ["PATIENCE", "Group", "Process"]


class Group(group.Group):
    def agree(self, members: Iterable[int]) -> int:
        epoch = super().agree(members)
        self.check()
        return epoch

    def settle(self) -> set[int]:
        members = super().settle()
        self.check()
        return members

    def check(self) -> None:
        """Epochs only grow, who installs a view is in it, all have the same one of an epoch."""
        views: dict[int, list[int]] = {}
        for process in self.processes:
            epochs = [e["epoch"] for e in process.said("view")]
            assert epochs == sorted(set(epochs))
            for event in process.said("view"):
                assert event["self"] in event["members"]
                assert event["root"] == min(event["members"])
                assert views.setdefault(event["epoch"], event["members"]) == event["members"]
