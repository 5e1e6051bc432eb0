# SPDX-License-Identifier: Apache-2.0
"""Installing system packages: only what a target runs, and never in the way of another apt-get."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INSTALL = ROOT / "scripts/install-packages"
WAITS = "-o DPkg::Lock::Timeout="
CALL = re.compile(r"\bapt(?:-get)? +(?:-\S+ +|\S+=\S+ +)*(?:update|install|\"\$@\")")
LOCKED = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)"


def packages_of(name: str) -> set[str]:
    run = [INSTALL, name, "--list"]
    return set(subprocess.run(run, check=True, capture_output=True, text=True).stdout.split())


def unwaiting_calls(text: str) -> list[str]:
    """Calls of apt-get, outside comments, that end where somebody else installs."""
    code = re.sub(r"^\s*#.*$", "", text.replace("\\\n", " "), flags=re.MULTILINE)
    return [call for call in CALL.findall(code) if WAITS not in call]


def scripts() -> list[Path]:
    listed = subprocess.run(
        ["git", "grep", "-lI", "apt", "--", ":!*.md", ":!examples", ":!tests"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [ROOT / line for line in listed.splitlines()]


def test_every_call_of_apt_get_waits_for_the_lock() -> None:
    assert INSTALL in scripts()
    assert {str(path): unwaiting_calls(path.read_text()) for path in scripts()} == {
        str(path): [] for path in scripts()
    }


def install_beside(folder: Path, failures: int, said: str) -> subprocess.CompletedProcess[str]:
    """Installs on a machine without any package where so many calls of apt-get fail."""
    programs = {
        "dpkg-query": "exit 1",
        "dpkg": "echo amd64",
        "id": "echo 0",
        "sleep": "echo slept >>calls",
        "apt-get": f"""echo "$@" >>calls
[ $(grep -c Lock calls) -gt {failures} ] || {{ echo "{said}"; exit 100; }}""",
    }
    for name, body in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    return subprocess.run(
        [INSTALL, "build"],
        cwd=folder,
        env={**os.environ, "PATH": path},
        check=False,
        capture_output=True,
        text=True,
    )


def test_a_lock_that_apt_get_does_not_wait_for_is_tried_again(tmp_path: Path) -> None:
    done = install_beside(tmp_path, 2, LOCKED)
    calls = (tmp_path / "calls").read_text().splitlines()
    words = [call if call == "slept" else call.split()[3] for call in calls]
    assert done.returncode == 0
    assert words == ["update", "slept", "update", "slept", "update", "install"]


def test_any_other_failure_is_told_at_once(tmp_path: Path) -> None:
    done = install_beside(tmp_path, 2, "E: Unable to locate package")
    assert done.returncode == 1
    assert done.stderr == "scripts/install-packages: apt-get update: E: Unable to locate package\n"
    assert len((tmp_path / "calls").read_text().splitlines()) == 1


def test_make_quick_installs_what_make_demo_does() -> None:
    """None of its tests names a program of the boards, the proofs or a second compiler."""
    plan = subprocess.run(
        ["make", "--dry-run", "--always-make", "quick"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert set(re.findall(r"install-packages (\w+)", plan)) == {"build"}
    assert not {"gcc-multilib", "musl-tools"} & packages_of("build")
    assert (
        len(packages_of("build"))
        < len(packages_of("recorders"))
        < len(packages_of("boards"))
        < len(packages_of("test"))
    )
    for line in (ROOT / "tests/quick.txt").read_text().split():
        name = line.partition("::")[0]
        assert not re.search(r"clang|qemu|frama|subprocess", (ROOT / name).read_text()), name
