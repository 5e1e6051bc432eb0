# SPDX-License-Identifier: Apache-2.0
"""Commands on pages run. A fenced block that is

    console   is run anew by scripts/readme.py, and what it prints stands on the page
    sh        is run here, in a small form: where it says mine.parquet, a trace of 500 events lies
    text      is not run: what it shows is dated, or is the form of a command

and a command stands in no other way.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from test_documentation import MADE_PAGES

from heapfit.cli.arguments import list_options
from heapfit.cli.main import all_commands, options_of
from heapfit.cli.parser import read_command, split_words
from program import run_heapfit

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BARE = re.compile(r"^ {4}(?:\$ |heapfit |python -m )", re.MULTILINE)
DRAWINGS = {"DESIGN.md"}  # where commands are parts of pictures
# Too long for a test, or in need of a cluster: these are parsed, and not run.
PARSED_ONLY = {
    "heapfit compare t2_w1 t2_w2 queue_fill --allocators all": "minutes",
    "heapfit compare t2_w1 queue_fill --allocators all": "minutes",
    "heapfit simulate scenario.toml --workers tcp://host:8786": "a cluster",
    "heapfit reproduce --all --workers 1": "minutes",
    "heapfit reproduce --all --report papers.html": "minutes",
    "heapfit reproduce --all --json": "minutes",
    "heapfit reproduce 003 002-6": "a minute",
    "heapfit simulate examples/partitions/figure-5.toml": "run for docs/simulation.md",
    "heapfit simulate examples/partitions/figure-5.toml --report figure-5.html": "likewise",
}


def pages() -> list[Path]:
    """Every page that git knows."""
    listing = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [ROOT / name for name in listing.stdout.split()]


def lines_in(page: str) -> list[str]:
    """The commands of a page's sh blocks, without their comments."""
    blocks = [body for kind, body in FENCE.findall(page) if kind == "sh"]
    return [
        shlex.join(words)
        for line in "\n".join(blocks).splitlines()
        if (words := shlex.split(line, comments=True))
    ]


def commands() -> list[str]:
    """All of them, each once."""
    return list(dict.fromkeys(line for page in pages() for line in lines_in(page.read_text())))


def misplaced(name: str, page: str) -> list[str]:
    """Console blocks that nothing renews, and commands outside of fences."""
    kinds = [kind for kind, _ in FENCE.findall(page)]
    wrong = ["a console block"] if "console" in kinds and name not in MADE_PAGES else []
    is_bare = BARE.search(FENCE.sub("", page)) and name not in DRAWINGS
    return wrong + (["a command outside of a fence"] if is_bare else [])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where what the pages name lies in small."""
    made = tmp_path_factory.mktemp("pages")
    (made / "examples").symlink_to(ROOT / "examples")
    program = "t2_w1:events=500"
    for seed, name in enumerate(("mine", "a", "b", "run1", "run2", "run3", "OTHER"), 1):
        run(made, f"heapfit workload {program} -o {name}.parquet --seed {seed}")
    for run_of in made.glob("run?.parquet"):
        run_of.rename(run_of.with_suffix(".heap"))
    run(made, "heapfit fit mine.parquet -o fit")
    (made / "plan.toml").symlink_to("fit/plan.toml")
    scenario = (ROOT / "examples/partitions/figure-9.toml").read_text()
    (made / "scenario.toml").write_text(without_grid(scenario))
    return made


def without_grid(scenario: str) -> str:
    """The scenario's first variant alone."""
    before, grid, rest = scenario.partition("[[grid]]")
    return before + rest[rest.index("[run]") :] if grid else scenario


def run(folder: Path, command: str) -> None:
    program, *words = shlex.split(command)
    assert program == "heapfit"
    done = run_heapfit(*words, folder=folder, environment=os.environ)
    assert done.returncode == 0, f"{command}\n{done.stderr}"


@pytest.mark.parametrize("command", [line for line in commands() if line not in PARSED_ONLY])
def test_a_command_on_a_page_runs(folder: Path, command: str) -> None:
    run(folder, command)


@pytest.mark.parametrize("command", PARSED_ONLY)
def test_a_command_that_takes_long_is_understood(folder: Path, command: str) -> None:
    assert command in commands(), "stands on no page"
    words = [word.replace("examples/", f"{ROOT}/examples/") for word in shlex.split(command)[1:]]
    words = [str(folder / word) if (folder / word).is_file() else word for word in words]
    declared = all_commands()[words[0]]
    typed, rest = split_words(words[0], words[1:], options_of(declared))
    read_command(declared, list_options(declared), [one for one in typed if one[0].field], rest)


def test_commands_stand_where_they_are_run() -> None:
    found = {
        name: wrong
        for page in pages()
        if (wrong := misplaced(name := page.relative_to(ROOT).as_posix(), page.read_text()))
    }
    assert found == {}


NAMED = re.compile(r"(?:`|>|^\$ )heapfit ([a-z]+)\b", re.MULTILINE)


def unknown_commands(page: str) -> set[str]:
    """Commands that a page names and that there are not."""
    known = {"help"} | all_commands().keys()
    return set(NAMED.findall(page)) - known


def test_pages_name_just_the_commands_there_are() -> None:
    templates = (ROOT / "python").rglob("*.j2")
    found = {
        path.relative_to(ROOT).as_posix(): unknown_commands(path.read_text())
        for path in [*pages(), *templates]
        if path.name != "CHANGELOG.md"  # which tells of those there were
    }
    assert {name: unknown for name, unknown in found.items() if unknown} == {}
