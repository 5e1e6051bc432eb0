# SPDX-License-Identifier: Apache-2.0
"""action.yml's commands run as GitHub runs them, in bash and with the inputs' values; so do
those that docs/check.md has for GitLab."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

INPUT = re.compile(r"\$\{\{ inputs\.(\w+) \}\}")
SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]  # what GitHub makes of `shell: bash`
PAGE = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLE = "examples/check"


@pytest.fixture(scope="module")
def action(root: Path) -> dict:
    return yaml.safe_load((root / "action.yml").read_text())


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel whose `heapfit` is the one under test: what pip installs needs no network."""
    wheel = tmp_path_factory.mktemp("wheel") / "heapfit-0-py3-none-any.whl"
    about = "heapfit-0.dist-info"
    words = [sys.executable, "-m", "heapfit"]
    script = (
        f"import os, sys\ndef run():\n    os.execv({sys.executable!r}, {words} + sys.argv[1:])\n"
    )
    files = {
        "started.py": script,
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: heapfit\nVersion: 0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
        f"{about}/entry_points.txt": "[console_scripts]\nheapfit = started:run\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(wheel, "w") as made:
        for name, text in files.items():
            made.writestr(name, text)
    return wheel


class Job:
    """One job, in a folder of its own; what the runner gives its steps are files beside it."""

    def __init__(self, action: dict, package: Path, root: Path, folder: Path) -> None:
        self.action, self.package = action, package
        self.workspace, self.temporary = folder / "workspace", folder / "temporary"
        self.summary, self.output = folder / "summary.md", folder / "output"
        self.steps = action["runs"]["steps"]
        self.checkout = folder / "none"
        self.temporary.mkdir(parents=True)
        self.workspace.mkdir()
        (self.workspace / "check").symlink_to(root / EXAMPLE)

    def run(self, **given: str) -> int:
        """Runs the steps up to one that fails; the last one's status."""
        values = {name: one.get("default", "") for name, one in self.action["inputs"].items()}
        values |= {"package": str(self.package), **given}
        status = 0
        for step in self.steps:
            if status == 0:
                status = self._step(step, values)
        return status

    def _step(self, step: dict, values: dict[str, str]) -> int:
        told = {
            name: INPUT.sub(lambda found: values[found[1]], text)
            for name, text in step["env"].items()
        }
        environment = {
            **os.environ,
            "RUNNER_TEMP": str(self.temporary),
            "GITHUB_ACTION_PATH": str(self.checkout),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_OUTPUT": str(self.output),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "NO_COLOR": "1",
            **told,
        }
        script = self.temporary / "step.sh"
        script.write_text(step["run"])
        assert step["shell"] == "bash"
        words = [*SHELL, str(script)]
        return subprocess.run(words, cwd=self.workspace, env=environment, check=False).returncode


@pytest.fixture(scope="module")
def installed(
    action: dict, package: Path, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Where a job's first step left what it installed."""
    first = Job(action, package, root, tmp_path_factory.mktemp("first"))
    first.steps = first.steps[:1]
    assert first.run() == 0
    return first.temporary


@pytest.fixture
def job(action: dict, package: Path, root: Path, tmp_path: Path, installed: Path) -> Job:
    """A job that goes on where heapfit is installed, which is most of what a job takes."""
    made = Job(action, package, root, tmp_path)
    made.temporary, made.steps = installed, made.steps[1:]
    return made


def test_recordings_that_hold_leave_a_green_job_and_a_summary(
    action: dict, package: Path, root: Path, tmp_path: Path
) -> None:
    job = Job(action, package, root, tmp_path)
    given = {"plan": "check/plan.toml", "recordings": "check/traces/clean*\ncheck/traces/base*"}
    assert job.run(**given) == 0
    assert job.summary.read_text().startswith("### PASS: all 2 recordings fit in ")
    assert "| clean | fits |" in job.summary.read_text()
    assert "| base | fits |" in job.summary.read_text()
    page = job.output.read_text().removeprefix("markdown=").strip()
    assert Path(page).read_text() == job.summary.read_text()


BACKEND = """import shutil
def build_wheel(folder, *_):
    shutil.copy({wheel!r}, folder)
    return {name!r}
"""


def test_without_a_package_its_own_checkout_is_built_by_its_lock(
    action: dict, package: Path, root: Path, tmp_path: Path
) -> None:
    job = Job(action, package, root, tmp_path)
    job.checkout = tmp_path / "checkout"
    job.checkout.mkdir()
    backend = {"requires": [], "build-backend": "made", "backend-path": ["."]}
    told = "\n".join(f"{key} = {json.dumps(value)}" for key, value in backend.items())
    (job.checkout / "pyproject.toml").write_text(f"[build-system]\n{told}\n")
    (job.checkout / "made.py").write_text(BACKEND.format(wheel=str(package), name=package.name))
    given = {"plan": "check/plan.toml", "recordings": "check/traces/clean*", "package": ""}
    assert job.run(**given) != 0  # without a lock
    (job.checkout / "requirements.lock").write_text("")
    assert job.run(**given) == 0
    assert "| clean | fits |" in job.summary.read_text()


def test_a_leak_makes_the_job_red_with_what_grew(job: Job) -> None:
    given = {"plan": "check/plan.toml", "recordings": "check/traces/leak.parquet"}
    assert job.run(**given, base="check/traces/base.parquet", growth="12%") == 3
    assert "| leak | ran out, grew, leaks |" in job.summary.read_text()
    assert "| size up to | at the peak | of base |" in job.summary.read_text()


def test_growth_and_strictness_reach_the_check(job: Job) -> None:
    given = {"plan": "check/plan.toml", "recordings": "check/traces/clean.parquet"}
    assert job.run(**given, base="check/traces/base.parquet", growth="0%") == 3
    tight = (job.workspace / "check/plan.toml").read_text()
    for key in ("peak", "u_max"):
        tight = tight.replace(f"{key} = ", f"{key} = 3000 # ")
    (job.workspace / "tight.toml").write_text(tight)
    assert job.run(**{**given, "plan": "tight.toml"}) == 0
    assert job.run(**{**given, "plan": "tight.toml"}, strict="true") == 3


@pytest.mark.parametrize(("size", "status"), [("48K", 3), ("64K", 0)])
def test_a_heap_takes_the_place_of_a_plan(job: Job, size: str, status: int) -> None:
    given = {"heap": f"heap_4:{size}", "recordings": "check/traces/leak.parquet"}
    assert job.run(**given) == status
    assert "(heap_4)" in job.summary.read_text()
    assert job.run(**given, plan="check/plan.toml") not in (0, 3)


@pytest.mark.parametrize("recordings", ["check/traces/none*.parquet", "check/none.parquet"])
def test_recordings_that_are_not_there_fail_the_job(job: Job, recordings: str) -> None:
    assert job.run(plan="check/plan.toml", recordings=recordings) not in (0, 3)
    assert not job.summary.exists()


def test_names_with_spaces_and_commands_in_them_stay_names(job: Job) -> None:
    name = "a b; touch made $(touch made).parquet"
    (job.workspace / name).symlink_to(job.workspace / "check/traces/clean.parquet")
    assert job.run(plan="check/plan.toml", recordings=name) == 0
    assert not (job.workspace / "made").exists()


def test_the_page_gives_the_action_inputs_that_it_has(root: Path, action: dict) -> None:
    page = (root / "docs/check.md").read_text().partition("## In continuous integration")[2]
    jobs, comment, _ = map(yaml.safe_load, PAGE.findall(page))
    used = [step for step in [*jobs["jobs"]["heap"]["steps"], *comment] if "with" in step]
    assert len(used) == 2
    for step in used:
        assert set(step["with"]) <= set(action["inputs"])
        required = {name for name, one in action["inputs"].items() if one.get("required")}
        assert required <= set(step["with"])
    listed = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert listed == list(action["inputs"])


@pytest.mark.parametrize(("recording", "status"), [("clean", 0), ("leak", 3)])
def test_the_job_for_gitlab_checks(root: Path, tmp_path: Path, recording: str, status: int) -> None:
    *_, gitlab = map(yaml.safe_load, PAGE.findall((root / "docs/check.md").read_text()))
    (line,) = [one for one in gitlab["heap"]["script"] if one.startswith("heapfit check ")]
    for name, source in {
        "new/run.heap": f"traces/{recording}.parquet",
        "heap/base/echo.parquet": "traces/base.parquet",
        "heap/plan.toml": "plan.toml",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(root / EXAMPLE / source)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", line], cwd=tmp_path, env={**os.environ, "PATH": path}, check=False
    )
    assert done.returncode == status
    (kept,) = gitlab["heap"]["artifacts"]["paths"]
    assert (tmp_path / kept).is_file()
