# SPDX-License-Identifier: Apache-2.0
"""The man page and completion, made of what help is made of; exit codes."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heapfit.cli.main import all_commands
from program import call_heapfit

ROOT = Path(__file__).parents[2]
NAMES = list(all_commands())


@pytest.fixture(scope="module")
def completion(tmp_path_factory):
    path = tmp_path_factory.mktemp("completion") / "heapfit"
    path.write_text(made_by("bash"))
    return path


def made_by(*words: str) -> str:
    script = ROOT / "scripts" / "man_page.py"
    done = subprocess.run(
        [sys.executable, script, *words], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_man_page_is_one(tmp_path):
    groff = shutil.which("groff")
    assert groff, "groff is in scripts/install-packages"
    page = tmp_path / "heapfit.1"
    page.write_text(made_by())
    words = [groff, "-man", "-Tutf8", "-ww", page]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    text = " ".join(re.sub(r".\x08|\x1b\[[0-9]*m", "", done.stdout).split())
    for name in NAMES:
        assert f"heapfit {name}" in text, "`make docs` renews docs/heapfit.1"


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("compare x.heap tls", "tlsf"),
        ("workload t2_w", "t2_w1 t2_w2 t2_w3 t2_w4 t2_w5"),
        ("settings zep", "zephyr zephyr-bluetooth"),
        ("fit --pl", "--plans"),
        ("ver", "verify"),
    ],
)
def test_a_name_is_completed(typed, offered, completion, tmp_path):
    words = ["heapfit", *typed.split()]
    script = (
        f"source {completion}; COMP_WORDS=({' '.join(words)}); "
        f'COMP_CWORD={len(words) - 1}; _heapfit; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split() == offered.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_all_commands_their_options_and_choices(shell):
    script = call_heapfit("--show-completion", shell).stdout
    assert all(re.search(rf'\b{name}\b[^"]*" ?|\b{name}\b', script) for name in NAMES)
    line = next(one for one in script.splitlines() if re.search(r"\bfit\b.*--plans", one))
    assert " ram time flash " in line


def test_every_exit_code_is_on_its_page():
    page = (ROOT / "docs/commands.md").read_text()
    assert re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == ["0", "1", "2", "3", "130"]
