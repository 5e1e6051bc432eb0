# SPDX-License-Identifier: Apache-2.0
"""GitHub's workflows run targets of the Makefile and nothing that is not tried elsewhere."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
# What a bare image needs before there is a Makefile, and what machines without make run.
OTHERS = {
    "pipx run cibuildwheel==4.3.5 --output-dir dist",
    "apt-get -o DPkg::Lock::Timeout=600 update && "
    "apt-get -o DPkg::Lock::Timeout=600 install --yes git make python3-venv sudo",
}
VARIABLE = re.compile(r"^([A-Z_]+) := ", re.MULTILINE)


def commands() -> list[str]:
    """Of every step of every job."""
    jobs = [job for file in WORKFLOWS for job in yaml.safe_load(file.read_text())["jobs"].values()]
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


def test_a_workflow_may_read_and_nothing_else() -> None:
    assert len(WORKFLOWS) >= 2
    for file in WORKFLOWS:
        workflow = yaml.safe_load(file.read_text())
        assert workflow["permissions"] == {"contents": "read"}, file.name
        assert all("timeout-minutes" in job for job in workflow["jobs"].values()), file.name


@pytest.mark.parametrize("command", [one for one in commands() if one not in OTHERS])
def test_a_command_is_a_target_that_make_can_follow(command: str) -> None:
    """To its recipe's last line, without running it; variables that it sets are the Makefile's."""
    program, target, *given = shlex.split(command)
    assert program == "make"
    subprocess.run(
        ["make", "--dry-run", target, *given], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )
    known = set(VARIABLE.findall((ROOT / "Makefile").read_text()))
    assert {one.partition("=")[0] for one in given} <= known


def test_all_other_commands_are_still_used() -> None:
    assert set(commands()) >= OTHERS


def test_the_packages_that_a_bare_image_installs_are_known() -> None:
    """Those beyond git, make and sudo are what scripts/install-packages would install."""
    (line,) = (one for one in OTHERS if "apt-get" in one)
    packages = set(line.split("--yes ")[1].split()) - {"git", "make", "sudo"}
    listed = (ROOT / "scripts/install-packages").read_text()
    assert [name for name in packages if name not in listed] == []
