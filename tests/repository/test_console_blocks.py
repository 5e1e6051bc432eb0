# SPDX-License-Identifier: Apache-2.0
"""Commands on pages run in the root of a clone, where readers are. A fenced block that is

    console   is run anew by scripts/readme.py, and what it prints stands on the page
    sh        is run here, in a small form: where it says mine.parquet, a trace of 500 events lies
    text      is run if the clone has its inputs; it shows the form of a command, or what is dated

and so is a command in a sentence. No command writes where the clone has something.
"""

import gzip
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from test_documentation import MADE_PAGES

from heapfit.cli.arguments import list_options
from heapfit.cli.main import all_commands, options_of
from heapfit.cli.parser import read_command, split_words
from heapfit.cli.printing.help_screen import list_examples
from program import run_heapfit
from readme import copy_clone

pytestmark = pytest.mark.usefixtures("unmeasured_module")

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`(heapfit [^`]+)`")
OPEN = re.compile(r"[A-Z]{3}|[|<>$*{]|\.\.\.|(?<!\S)--(?!\S)|/dev/")  # what readers fill in, or run
WRITES = ("-o", "--output", "--plans", "--report", "--code", "--export")
BARE = re.compile(r"^ {4}(?:\$ |heapfit |python -m )", re.MULTILINE)
DRAWINGS = {"DESIGN.md"}  # where commands are parts of pictures
# Too long for a test, or in need of a cluster: these are parsed, and not run.
PARSED_ONLY = {
    "heapfit compare t2_w1 t2_w2 queue_fill all": "minutes",
    "heapfit compare t2_w1 queue_fill all": "minutes",
    "heapfit simulate scenario.toml --workers tcp://host:8786": "a cluster",
    "heapfit reproduce --all --workers 1": "minutes",
    "heapfit reproduce --all --report papers.html": "minutes",
    "heapfit reproduce --all --json": "minutes",
    "heapfit reproduce 003 002-6": "a minute",
    "heapfit bounds mine.parquet --plan plan.toml": "run by tests/python/test_adversary.py",
    "heapfit simulate examples/partitions/figure-5.toml": "run for docs/evidence/simulation.md",
    "heapfit simulate examples/partitions/figure-5.toml --report figure-5.html": "likewise",
}


def known_files() -> list[Path]:
    """Every file that git knows, from the root."""
    listing = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return list(map(Path, listing.stdout.splitlines()))


TRACKED = {path.parts[0] for path in known_files()}


def pages() -> list[Path]:
    """Every page that git knows."""
    return [ROOT / path for path in known_files() if path.suffix == ".md"]


def lines_in(page: str) -> list[str]:
    """The commands of a page's sh blocks, without their comments."""
    return [shlex.join(words) for kind, words in typed_in(page) if kind == "sh"]


def typed_in(page: str) -> Iterator[tuple[str, list[str]]]:
    """The words of all commands of a page, each with the kind of its block, or "" in a sentence."""
    shown = [(kind, body.replace("\\\n", "").splitlines()) for kind, body in FENCE.findall(page)]
    for kind, lines in [*shown, ("", SPAN.findall(FENCE.sub("", page)))]:
        typed = (line.removeprefix("$ ") for line in lines)
        yield from ((kind, words_of(one)) for one in typed if one.startswith("heapfit "))


def words_of(line: str) -> list[str]:
    """The line's words, without its comment; of a part of a command of the shell its first."""
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return line.split()[:1]


def commands() -> list[str]:
    """All of them, each once."""
    return list(dict.fromkeys(line for page in pages() for line in lines_in(page.read_text())))


def outputs(words: list[str]) -> list[str]:
    """The files and folders that a command is told to write."""
    told = [word for before, word in pairwise(words) if before in WRITES]
    return [word for word in told if "$" not in word and not word.isupper()]


def stands_whole(words: list[str], folder: Path) -> bool:
    """True for a command that names files, all of them there, or a folder to write."""
    if OPEN.search(" ".join(words)) or "--qemu" in words:
        return False
    read = [
        word
        for word in expand(words, folder)
        if re.search(r"\w[./]\w", word) and word not in outputs(words)
    ]
    files = [word for word in read if not re.fullmatch(r"[\d.]+%?", word)]
    return all((folder / word).exists() for word in files) and bool(files or outputs(words))


def expand(words: list[str], folder: Path) -> list[str]:
    """The words as a shell gives them: names for a pattern."""
    named = {word: sorted(path.name for path in folder.glob(word)) for word in words if "?" in word}
    return [one for word in words for one in named.get(word) or [word]]


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
    copy_clone(made)
    program = "t2_w1:events=500"
    names = ("mine", "a", "b", "run1", "run2", "run3", "run4", "OTHER", "session")
    for seed, name in enumerate(names, 1):
        run(made, f"heapfit workload {program} -o {name}.parquet --seed {seed}")
    for run_of in made.glob("run?.parquet"):
        run_of.with_suffix(".heap").hardlink_to(run_of)  # pages name both
    for name, source in (("first.heap", "run1.heap"), ("second.heap", "run2.heap")):
        (made / name).hardlink_to(made / source)
    traffic = gzip.decompress((ROOT / "examples/capture/network.pcap.gz").read_bytes())
    (made / "traffic.pcap").write_bytes(traffic)
    network = [sys.executable, "examples/arena/network.py", "model.tflite"]
    subprocess.run(network, cwd=made, check=True)
    make_firmware(made)
    run(made, "heapfit fit mine.parquet -o fit")
    link_plan(made)
    scenario = (ROOT / "examples/partitions/figure-9.toml").read_text()
    (made / "scenario.toml").write_text(without_grid(scenario))
    return made


def link_plan(folder: Path) -> None:
    """The plan of one heap, also where a page's command has put one of several memories."""
    (folder / "plan.toml").unlink(missing_ok=True)
    (folder / "plan.toml").symlink_to("fit/plan.toml")


def make_firmware(folder: Path) -> None:
    """What the recorder says of the example that the guide for ESP32 builds, and its image."""
    recorder = folder / "recorder/target"
    image = folder / "build/firmware.elf"
    image.parent.mkdir()
    sources = [folder / "examples/memories/camera.c", recorder / "record.c"]
    sources.append(recorder / "adapters/one_heap.c")
    flags = [f"-I{recorder}", "-DHFIT_RECORD_CALL_SITES=1"]
    subprocess.run(["cc", *flags, *sources, "-o", image], check=True)
    (folder / "program").hardlink_to(image)
    for number, name in enumerate(("run1", "run2", "run3", "run4", "heapfit", "fitted"), 1):
        said = subprocess.run([image, str(number)], check=True, stdout=subprocess.PIPE)
        (folder / f"{name}.frames").write_bytes(said.stdout)
    run(folder, "heapfit record --serial heapfit.frames -o firmware.parquet")  # as on-target.md


def without_grid(scenario: str) -> str:
    """The scenario's first variant alone."""
    before, grid, rest = scenario.partition("[[grid]]")
    return before + rest[rest.index("[run]") :] if grid else scenario


def run(folder: Path, command: str, passing: Sequence[int] = (0,)) -> None:
    program, *words = expand(shlex.split(command), folder)
    assert program == "heapfit"
    done = run_heapfit(*words, folder=folder, environment=os.environ)
    assert done.returncode in passing, f"{command}\n{done.stderr}"


@pytest.mark.parametrize("command", [line for line in commands() if line not in PARSED_ONLY])
def test_a_command_on_a_page_runs(folder: Path, command: str) -> None:
    run(folder, command)
    link_plan(folder)


def test_a_command_in_a_sentence_or_a_text_block_runs_where_the_clone_has_its_inputs(
    folder: Path,
) -> None:
    shown = {
        shlex.join(words)
        for page in pages()
        if page.name != "CHANGELOG.md"
        for kind, words in typed_in(page.read_text())
        if kind in ("", "text") and stands_whole(words, folder)
    }
    assert "heapfit generate --record -o heapfit_recorder" in shown
    for command in sorted(shown - set(commands())):
        for name in outputs(shlex.split(command)):
            if (folder / name).is_file():
                (folder / name).unlink()  # another page's
        run(folder, command, passing=(0, 3))


# Commands to copy from the pages about boards that are not run above, by their beginning.
WHO_RUNS = {
    "heapfit forecast device.log": "tests/target/test_pages.py",
    "heapfit import heap.log": "tests/target/test_pages.py",
    "heapfit profile run.parquet": "tests/target/test_pages.py",
    "heapfit fit run.parquet": "tests/target/test_pages.py",
    "heapfit check next.frames": "tests/target/test_pages.py",
    "heapfit generate out/run/plan.toml": "tests/python/test_generated_platforms.py",
    "heapfit record --serial /dev/": "tests/python/test_target_log.py",
    "heapfit record --qemu firmware.elf": "tests/target/test_pages.py",
    "heapfit record -o run.parquet --site-depth": "tests/python/test_call_sites.py",
    "heapfit record -- build/PROGRAM.elf": "tests/python/test_record.py",
    "heapfit sites run.parquet --program": "tests/python/test_exports.py",
    "heapfit verify": "tests/target/test_verify.py",
    "heapfit bounds model.onnx": "tests/python/test_import_formats.py",
}
FORM = re.compile(r"\b(NEW|PLAN|RUN|NAME|TRACE)\b|^heapfit [a-z]+( --[\w-]+)?( heap_4)?$")


def test_each_command_of_a_page_about_boards_is_run_or_says_where(folder: Path) -> None:
    named = [*sorted((ROOT / "docs/guides").glob("*.md"))]
    named += [ROOT / f"docs/{name}.md" for name in ("on-target", "generate", "crashes")]
    others = tuple(WHO_RUNS)
    typed = {
        line: kind in ("sh", "bash")
        or (stands_whole(words, folder) and not line.startswith(others))
        for page in named
        for kind, words in typed_in(page.read_text())
        if not FORM.search(line := shlex.join(words))
    }
    rest = [one for one, is_run in typed.items() if not is_run]
    assert [one for one in rest if not one.startswith(others)] == []
    assert [one for one in WHO_RUNS if not any(line.startswith(one) for line in typed)] == []
    assert all((ROOT / file).exists() for file in WHO_RUNS.values())
    evidence = (ROOT / "docs/evidence/on-target.md").read_text()
    (told,) = re.findall(r"Of the (\d+) commands (\d+) are", evidence)
    assert (len(typed), sum(typed.values())) == tuple(map(int, told))


def colliding(page: str) -> set[str]:
    """What the commands of a page write where the clone has a file or folder of git."""
    told = {name for _, words in typed_in(page) for name in outputs(words)}
    return {name for name in told if Path(name).parts[0] in TRACKED}


def test_no_command_writes_where_the_clone_has_something() -> None:
    sources = [*pages(), *(ROOT / "python/heapfit/cli/commands").glob("*.py")]
    found = {path.relative_to(ROOT).as_posix(): path.read_text() for path in sources}
    examples = "\n".join(f"```sh\n{line}\n```" for line in shown_by_help())
    told = {name: colliding(text) for name, text in {**found, "help": examples}.items()}
    assert {name: wrong for name, wrong in told.items() if wrong} == {}
    assert colliding("`heapfit generate --record -o recorder`") == {"recorder"}


def shown_by_help() -> list[str]:
    """The examples of all commands."""
    return [one for declared in all_commands().values() for one in list_examples(declared)]


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
