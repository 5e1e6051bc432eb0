# SPDX-License-Identifier: Apache-2.0
"""Every output of every command: it replaces its own, and nothing of somebody else's."""

import errno
import os
import shutil
from pathlib import Path

import pytest
import small_scenarios
from small_traces import heapfit

from heapfit.cli.main import all_commands, options_of
from heapfit.errors import HeapfitError
from heapfit.outputs import ours
from heapfit.outputs.file import stage_file
from heapfit.outputs.folder import stage_folder

pytestmark = pytest.mark.usefixtures("unmeasured")

TRACE = "# pointer_bits 32\n" + "".join(f"a {i} {16 + i % 3 * 40} 1 1 a\n" for i in range(30))
PLAN = 'region = 8192\n[plan]\nallocator = "tlsf"\nalignment = 8\n'
# A command with {} for what it writes, and of a folder the file in it that is somebody else's.
FILES = [
    "import small.heap -o {}",
    "workload t2_w1:events=400 -o {}",
    "record -o {} -- sh -c :",
    "profile small.heap -o {}",
    "bounds small.heap --search 0 -o {}",
    "check small.heap --plan plan.toml --report {}",
    "compare small.heap tlsf --report {}",
    "place small.heap --memory a=64K --memory b=1M -o {}",
    "place small.heap --memory a=64K --memory b=1M --report {}",
    "simulate scenario.toml --closed-form -o {}",
    "simulate scenario.toml --closed-form --report {}",
    "size small.heap --report {}",
    "reproduce 000-1 --small --report {}",
]
FOLDERS = [
    ("fit small.heap -o {}", "report.html"),
    ("fit small.heap -o {}", "plan.toml"),
    ("fit small.heap -o {}", "small.parquet"),
    ("fit small.heap -o {}", "code/mine.c"),
    ("fit small.heap -o fitted --plans {}", "tlsf.toml"),
    ("generate plan.toml -o {}", "mine.c"),
    ("slotbuf 10 10 -o {}", "dist.dat"),
    ("slotbuf 10 10 -o {}", "slotbuf.html"),
]
REPEATED = {"report.html", "tlsf.toml", "slotbuf.html"}  # each command once
# Not run here: firmware needs a compiler.
OTHERS = {
    ("verify", "output"),
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "small.heap").write_text(TRACE)
    (tmp_path / "plan.toml").write_text(PLAN)
    few = [("requests = 4000", "requests = 100"), ("warm_up = 200", "warm_up = 10")]
    small_scenarios.small(tmp_path, *few).rename(tmp_path / "scenario.toml")
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_output_of_every_command_is_tried():
    there = {
        (name, one.field)
        for name, declared in all_commands().items()
        for one in options_of(declared)
        if one.is_output
    }
    long = {"-o": "output", "--output": "output"}
    long["--plans"] = "plans_folder"
    words = [line.format("X").split() for line in (*FILES, *(line for line, _ in FOLDERS))]
    tried = {(one[0], long.get(option, option.strip("-"))) for one in words for option in one[1:]}
    assert there <= tried | OTHERS
    assert there >= OTHERS


@pytest.mark.parametrize("line", FILES)
def test_a_foreign_file_is_kept_and_its_own_replaced(line, folder):
    words = line.format("result").split()
    (folder / "result").write_text("mine\n")
    before = contents(folder)
    done = heapfit(*words, folder=folder)
    assert done.returncode == 1
    assert "result: was edited, or not written by this command" in done.stderr
    assert contents(folder) == before
    assert heapfit(words[0], "--force", *words[1:], folder=folder).returncode == 0
    again = heapfit(*words, folder=folder)
    assert again.returncode == 0
    said = "replaces what an earlier `heapfit" if words[0] != "record" else "kept (--force"
    assert said in again.stderr
    (folder / "result").write_bytes((folder / "result").read_bytes() + b"\n")
    assert heapfit(*words, folder=folder).returncode == 1


@pytest.mark.parametrize(("line", "name"), FOLDERS)
def test_a_foreign_file_in_a_folder_is_kept_with_all_beside_it(line, name, folder):
    words = line.format("result").split()
    mine = folder / "result" / name
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n")
    before = contents(folder)
    done = heapfit(*words, folder=folder)
    assert done.returncode == 1
    assert f"{name}: was " in done.stderr
    shutil.rmtree(folder / "fitted", ignore_errors=True)  # what it fitted is kept
    assert contents(folder) == before
    mine.unlink()
    if name in REPEATED:
        for _ in range(2):
            assert heapfit(*words, folder=folder).returncode == 0


@pytest.mark.parametrize(
    "line",
    ["fit small.heap -o {}", "fit small.heap -o fitted --plans {}", "generate plan.toml -o {}",
     "slotbuf 10 10 -o {}"],
)  # fmt: skip
def test_force_removes_nothing_that_is_not_written_anew(line, folder):
    words = line.format("result").split()
    for name in ("notes.txt", "src/main.c", "code/main.c"):
        (folder / "result" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "result" / name).write_text("mine\n")
    before = contents(folder / "result")
    heapfit(words[0], "--force", *words[1:], folder=folder)
    assert contents(folder / "result").items() >= before.items()


def test_a_link_is_refused_even_if_forced(folder):
    (folder / "link").symlink_to("small.heap")
    done = heapfit("import", "small.heap", "-o", "link", "--force", folder=folder)
    assert done.returncode == 1
    assert "link: is a symbolic link, which is not replaced" in done.stderr
    assert (folder / "small.heap").read_text() == TRACE
    (folder / "real").mkdir()
    (folder / "folder").symlink_to("real")
    done = heapfit("fit", "small.heap", "-o", "folder", "--force", folder=folder)
    assert done.returncode == 1
    assert list((folder / "real").iterdir()) == []


@pytest.fixture
def no_attributes(monkeypatch):
    """A file system without extended attributes."""

    def refuse(*_):
        raise OSError(errno.ENOTSUP, "no attributes")

    for name in ("setxattr", "getxattr"):
        monkeypatch.setattr(os, name, refuse)


@pytest.mark.parametrize("has_attributes", [True, False])
def test_a_copy_counts_as_its_owners(has_attributes, tmp_path, request):
    if not has_attributes:
        request.getfixturevalue("no_attributes")
    written = tmp_path / "a"
    written.write_text("text")
    ours.mark_ours(written)
    ours.require_replaceable(written)
    assert (tmp_path / ".a.sha256").exists() != has_attributes
    shutil.copyfile(written, tmp_path / "b")
    with pytest.raises(HeapfitError, match="not written by this command"):
        ours.require_replaceable(tmp_path / "b")
    with ours.allow_replacing():
        ours.require_replaceable(tmp_path / "b")


@pytest.mark.usefixtures("no_attributes")
def test_without_attributes_files_and_folders_replace_their_own(tmp_path):
    for text in ("first", "second"):
        with stage_file(tmp_path / "a") as staging:
            staging.write_text(text)
        with stage_folder(tmp_path / "folder") as new, stage_file(new / "b") as staging:
            staging.write_text(text)
    assert (tmp_path / "a").read_text() == (tmp_path / "folder/b").read_text() == "second"
    assert sorted(one.name for one in tmp_path.iterdir()) == [".a.sha256", "a", "folder"]
    assert sorted(one.name for one in (tmp_path / "folder").iterdir()) == [".b.sha256", "b"]
    (tmp_path / "a").write_text("edited")
    with pytest.raises(HeapfitError, match="was edited"), stage_file(tmp_path / "a"):
        pass


def test_what_fails_aside_is_told_of_the_place_that_was_asked_for(tmp_path):
    with (
        pytest.raises(HeapfitError) as caught,
        stage_folder(tmp_path / "folder") as new,
        stage_file(new / "b"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    place = tmp_path / "folder/b"
    assert str(caught.value).startswith(f"{place}: cannot be written: No space left on device")
    assert list(tmp_path.iterdir()) == []
