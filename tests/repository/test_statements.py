# SPDX-License-Identifier: Apache-2.0
"""A commit that adds statements to the package says what for, in any clone."""

import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import check_statements

Commit = Callable[..., None]


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


@pytest.fixture
def commit(tmp_path: Path) -> Commit:
    """Commits a room of so many statements, in a repository of two commits' age."""
    git = ("git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a@b")

    def commit(message: str, switch: str = "", **rooms: int) -> None:
        for room, count in rooms.items():
            write(tmp_path, f"python/heapfit/{room}/a.py", "import os\n" + "a = 1\n" * count)
        lines = [*([["checkout", "-q", *switch.split()]] if switch else []), ["add", "python"]]
        for words in [*lines, ["commit", "-q", "-m", message]]:
            subprocess.run([*git, *words], check=True, stdout=subprocess.DEVNULL)

    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    commit("plan: the first", plan=300, trace=10)
    return commit


def judged(folder: Path) -> list[str]:
    return [one.partition(":")[0] for one in check_statements.judge_head(folder)]


RISE = "the total rises by {}"


@pytest.mark.parametrize(
    ("message", "rooms", "told"),
    [
        ("plan: the same elsewhere", {"plan": 299, "trace": 11}, []),
        ("plan: a field", {"plan": 301}, [RISE.format(1)]),
        ("plan: a field (4D)", {"plan": 301}, []),
        ("plan: two issues, 4D and 4G", {"plan": 500}, []),
        ("plan: too much for 4G", {"plan": 401}, [RISE.format(101)]),
        ("plan: less\n\nRemoves: the rest", {"plan": 1, "trace": 211}, []),
        ("plan: moved", {"plan": 1, "trace": 211}, ["201 statements are added (trace +201)"]),
        ("plan: moved", {"plan": 1, "trace": 210}, []),
    ],
)
def test_a_commit_that_adds_statements_says_what_for(
    tmp_path: Path, commit: Commit, message: str, rooms: dict[str, int], told: list[str]
) -> None:
    commit(message, **rooms)
    assert judged(tmp_path) == told


def test_an_issue_allows_its_statements_once(tmp_path: Path, commit: Commit) -> None:
    commit("plan: half of 4G", plan=360)
    commit("plan: a reason of its own", plan=350)
    commit("plan: the rest of 4G", plan=390)
    assert judged(tmp_path) == []
    commit("plan: beyond 4G", plan=391)
    commit("plan: and beyond 4G", plan=392)
    [told] = check_statements.judge_head(tmp_path)
    assert told == "the total rises by 1: 4G may add 0 more"


def test_a_merge_is_judged_by_what_it_merges(tmp_path: Path, commit: Commit) -> None:
    commit("plan: for 4D", "-b side", plan=350)
    commit("trace: less", trace=9)
    commit("bounds: one", "main", bounds=1)
    merge = ["merge", "-q", "--no-ff", "--no-commit", "side"]
    subprocess.run(["git", "-C", tmp_path, *merge], check=True)
    commit("Merge side")
    assert check_statements.count_changes("HEAD^1", "HEAD", tmp_path).total() == 49
    assert judged(tmp_path) == []


def test_a_shallow_clone_needs_the_parent_alone(tmp_path: Path, commit: Commit) -> None:
    commit("plan: one", plan=301)
    for depth, told in ((2, [RISE.format(1)]), (1, [])):
        clone = tmp_path / f"clone{depth}"
        words = ["clone", "-q", "--depth", str(depth), f"file://{tmp_path}", clone]
        subprocess.run(["git", *words], check=True)
        assert judged(clone) == told


@pytest.mark.usefixtures("commit")
def test_what_is_not_committed_is_compared_with_head(tmp_path: Path) -> None:
    write(tmp_path, "python/heapfit/new.py", "a = 1\nb = 2\n")
    write(tmp_path, "python/heapfit/trace/a.py", "")
    (tmp_path / "python/heapfit/plan/a.py").unlink()
    changes = check_statements.count_changes("HEAD", None, tmp_path)
    assert changes == Counter(new=2, trace=-10, plan=-300)
