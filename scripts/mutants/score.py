# SPDX-License-Identifier: Apache-2.0
"""The counts of judged mutants, and the share that tests kill."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from mutants.verdict import INVALID, KILLED, LEFT, SAME, SURVIVED, TIMEOUT


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of mutants."""

    killed: int  # by a failing test
    timeouts: int  # by a test without an end
    survived: int  # and not named as equivalent
    left: int  # of these by the quick tests alone
    named: int  # equivalents, by an argument
    same: int  # equivalents, by the compiler
    invalid: int

    @classmethod
    def of(cls, rows: Iterable[dict[str, str]], equivalents: Collection[str]) -> "Score":
        """Of kept rows; `equivalents` are keys."""
        kinds = [(row["verdict"], row["key"] in equivalents) for row in rows]
        counts = {
            kind: sum(one == kind for one, _ in kinds) for kind in (KILLED, TIMEOUT, SAME, INVALID)
        }
        named = sum(is_named for kind, is_named in kinds if kind == SURVIVED)
        survived = sum(kind in {SURVIVED, LEFT} for kind, _ in kinds) - named
        left = sum(kind == LEFT for kind, _ in kinds)
        ended = (counts[KILLED], counts[TIMEOUT], survived, left)
        return cls(*ended, named, counts[SAME], counts[INVALID])

    @property
    def judged(self) -> int:
        """Those that compile to something else, named equivalents among them."""
        return self.killed + self.timeouts + self.survived + self.named

    @property
    def share(self) -> float:
        """Killed of those that can be; 1 for none."""
        possible = self.judged - self.named
        return (self.killed + self.timeouts) / possible if possible else 1.0

    def sentence(self, population: str) -> str:
        """What a run ends with."""
        return (
            f"{population}: {self.killed + self.timeouts} of {self.judged - self.named} mutants"
            f" killed ({self.share:.1%}), {self.timeouts} of them by a timeout;"
            f" {self.left} left by quick tests, which long ones have not met;"
            f" {self.named} named equivalent, {self.same} of the same code,"
            f" {self.invalid} not compiled"
        )
