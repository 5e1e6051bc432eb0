# SPDX-License-Identifier: Apache-2.0
"""What became of a mutant, what told it, and the file that keeps it."""

import csv
import hashlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mutants.mutant import Mutant, line_of
from mutants.tree import Tree

RULES = 1  # counted up when tests are chosen, run or judged otherwise: kept results then lapse
KILLED = "killed"
TIMEOUT = "timeout"  # a test ran out of its processor time: killed, too
SURVIVED = "survived"
LEFT = "left"  # the quick tests noticed nothing, and the long ones have not met it: judged anew
INVALID = "invalid"  # does not compile: no mutant
SAME = "same"  # compiles to the same machine code: equivalent
INVALID_CODE = -1_000  # of a test's end
WRITTEN = {".c", ".cpp", ".h", ".hpp", ".py"}  # what tests are written in
COLUMNS = (
    "key", "file", "function", "line", "operator", "text", "was", "becomes", "verdict", "by",
    "evidence",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verdict:
    """`by` is the test file or folder that killed it, from the repository's top; else empty."""

    kind: str
    by: str = ""


class UnsoundTestError(Exception):
    """A test fails whether there is a mutant or not, and is left out from then on."""


class Judge(ABC):
    """Runs tests on a faulty tree until one fails."""

    tree: Tree
    tests: tuple[str, ...]  # files and folders that it may run
    is_quick = False  # what the quick tests leave is LEFT, where there are long ones

    def __init__(self) -> None:
        self.passing: set[str] = set()  # tests that were seen to end well
        self.failing: set[str] = set()  # and those that fail without a mutant: they tell nothing

    def prepare(self, mutants: Iterable[Mutant]) -> None:
        """Told which are about to be judged."""
        del mutants

    @abstractmethod
    def judge(self, mutant: Mutant) -> Verdict:
        """What the tests say of one mutant."""

    @abstractmethod
    def code_of(self, test: str) -> int | None:
        """How a test ends: 0 well, None out of time, INVALID_CODE if it does not compile."""

    def first_failure(self, tests: Iterable[str]) -> tuple[str, Verdict]:
        """The first test that does not end well, else "", and the verdict."""
        chosen = list(tests)
        if chosen and self.failing.issuperset(chosen):
            sys.exit("no test that would judge it passes without any mutant")
        for test in (one for one in chosen if one not in self.failing):
            code = self.code_of(test)
            if code == INVALID_CODE:
                return "", Verdict(INVALID)
            if code != 0:
                return test, Verdict(TIMEOUT if code is None else KILLED, test.split()[0])
            self.passing.add(test)
        return "", Verdict(SURVIVED)

    def require_sound(self, test: str) -> None:
        """UnsoundTestError if a test that killed a mutant fails without it, too."""
        if test and test not in self.passing and self.code_of(test) != 0:
            self.failing.add(test)
            raise UnsoundTestError(test)
        self.passing.add(test)


def evidence(root: Path, verdict: Verdict, tests: Iterable[str]) -> str:
    """A hash of what the verdict rests on: the killing test alone, or all if none killed."""
    if verdict.kind in {INVALID, SAME}:
        return f"rules-{RULES}"
    places = [verdict.by] if verdict.by else sorted(tests)
    digest = hashlib.sha256(str(RULES).encode())
    for place in places:
        path = root / place
        inside = sorted(one for one in path.rglob("*") if one.suffix in WRITTEN)
        for file in [path] if path.is_file() else inside:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


class Kept:
    """Verdicts by the mutants' keys, in a CSV file to which each new one is appended."""

    def __init__(self, root: Path, file: Path) -> None:
        """`root` has the tests and sources as they are run."""
        self.root, self.file = root, file
        self.rows: dict[str, dict[str, str]] = {}
        self._evidence: dict[tuple[bool, str], str] = {}  # of what was hashed already
        if file.is_file():
            with file.open(newline="") as lines:
                self.rows = {row["key"]: row for row in csv.DictReader(lines)}

    def find(self, mutant: Mutant, tests: Iterable[str]) -> Verdict | None:
        """What was found, if what it rests on has not changed since."""
        row = self.rows.get(mutant.key)
        if row is None:
            return None
        found = Verdict(row["verdict"], row["by"])
        return found if row["evidence"] == self._evidence_of(found, tests) else None

    def _evidence_of(self, verdict: Verdict, tests: Iterable[str]) -> str:
        rests_on = (verdict.kind in {INVALID, SAME}, verdict.by)
        if rests_on not in self._evidence:
            self._evidence[rests_on] = evidence(self.root, verdict, tests)
        return self._evidence[rests_on]

    def keep(self, mutant: Mutant, verdict: Verdict, tests: Iterable[str]) -> None:
        """Adds one; of several of a mutant the last counts."""
        self.rows[mutant.key] = row = {
            **{name: str(getattr(mutant, name)) for name in COLUMNS[:5]},
            "text": line_of(self.root, mutant),
            "was": mutant.was,
            "becomes": mutant.becomes,
            "verdict": verdict.kind,
            "by": verdict.by,
            "evidence": self._evidence_of(verdict, tests),
        }
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", newline="") as lines:
            writer = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
            if lines.tell() == 0:
                writer.writeheader()
            writer.writerow(row)

    def keep_only(self, keys: Iterable[str]) -> None:
        """Forgets all others, and sorts what is left."""
        self.rows = {key: self.rows[key] for key in keys if key in self.rows}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = self.file.with_suffix(".new")
        with new.open("w", newline="") as lines:
            writer = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(self.rows.values(), key=lambda row: (row["file"], row["key"])))
        new.replace(self.file)
