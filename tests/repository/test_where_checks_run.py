# SPDX-License-Identifier: Apache-2.0
"""Each check runs somewhere: the table in CONTRIBUTING.md, the Makefile and the lists agree."""

import re
from pathlib import Path

import pytest

RUNS = ("test", "test-more", "test-long", "attack")
RULE = re.compile(r"^([a-z0-9-]+):(?!=)([^#\n]*).*\n((?:\t.*\n)*)", re.MULTILINE)
CALLED = re.compile(r"\$\((?:MAKE|AT_ONCE)\)(.*)")
ROW = re.compile(r"^\| .* \| ((?:`[a-z0-9-]+` ?)+)\| ([a-z-]+) \|$", re.MULTILINE)
LONG_FORM = re.compile(
    r"(?:environ(?:\.get\(|\[)|getenv\()\"(HEAPFIT_(?:ALL_\w+|\w+_EVENTS|KILLS))\""
)
LISTS = ("tests/more.txt", "tests/quick.txt", "tests/turns.txt")


def rules(makefile: str) -> dict[str, set[str]]:
    """Each target, and the targets that its prerequisites and its recipe name."""
    found = RULE.findall(makefile.replace("\\\n", " "))
    names = {name for name, _, _ in found}
    return {
        name: names & {*needs.split(), *" ".join(CALLED.findall(recipe)).split()}
        for name, needs, recipe in found
    }


def parts(run: str, targets: dict[str, set[str]]) -> set[str]:
    """The targets in which a run ends, and itself where it does something of its own."""
    steps = {one for one in targets[run] if not one.endswith("packages") or one == "try-packages"}
    own = {run} if not steps or run in {"test-long", "attack"} else set()
    return own.union(*(parts(one, targets) for one in steps))


def test_the_table_tells_where_each_target_runs(root: Path) -> None:
    targets = rules((root / "Makefile").read_text())
    told: dict[str, set[str]] = {run: set() for run in RUNS}
    for names, run in ROW.findall((root / "CONTRIBUTING.md").read_text()):
        told[run] |= set(re.findall(r"[a-z0-9-]+", names))
    assert told == {run: parts(run, targets) for run in RUNS}
    assert {"test", "test-more", "attack-heaps"} <= set(
        re.findall(r"make ([a-z-]+)", (root / ".ci/run").read_text())
    )


def test_every_build_whose_tests_there_are_is_run(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    presets = re.search(r'"testPresets": (.*)', (root / "CMakePresets.json").read_text(), re.DOTALL)
    assert presets
    for name in re.findall(r'"name": "([\w-]+)",\s+"(?:displayName|configure)', presets[1]):
        assert f"ctest --preset {name}" in makefile, name


def test_every_long_form_of_a_test_is_run(root: Path) -> None:
    files = [file for file in (root / "tests").rglob("*.*") if file.suffix in {".py", ".hpp"}]
    asked = {name for file in files for name in LONG_FORM.findall(file.read_text())}
    assert len(asked) > 5
    recipe = (root / "Makefile").read_text().partition("\ntest-long:")[2].partition("\nattack:")[0]
    assert {name for name in asked if f"{name}=" not in recipe} == set()


@pytest.mark.parametrize("name", LISTS)
def test_a_list_names_tests_that_there_are_and_no_others_by_chance(root: Path, name: str) -> None:
    """`--deselect` leaves out all whose names begin so."""
    for line in (root / name).read_text().split():
        path, _, test = line.partition("::")
        assert (root / path).exists(), line
        if test:
            tests = re.findall(r"^def (test_\w+)", (root / path).read_text(), re.MULTILINE)
            assert [one for one in tests if one.startswith(test)] == [test], line


def test_what_has_its_turn_is_run_by_test_more_at_all(root: Path) -> None:
    turns, more = ((root / f"tests/{name}.txt").read_text().split() for name in ("turns", "more"))
    assert len(turns) == len(set(turns))
    for line in turns:
        assert any(line.startswith(one) or one.startswith(f"{line}::") for one in more), line
