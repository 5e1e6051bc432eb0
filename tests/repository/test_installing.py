# SPDX-License-Identifier: Apache-2.0
"""Installing system packages: only what a target runs, and never in the way of another apt-get."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INSTALL = ROOT / "scripts/install-packages"
WAITS = "-o DPkg::Lock::Timeout="
CALL = re.compile(r"\bapt(?:-get)? +(?:-\S+ +|\S+=\S+ +)*(?:update|install|\"\$@\")")


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
