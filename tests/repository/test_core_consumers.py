# SPDX-License-Identifier: Apache-2.0
"""core/ builds, is tested, installs and is used by other projects where there is no Python."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = ("gcc", "as", "ld", "ar", "ranlib", "cmake", "ninja", "ctest", "pkg-config", "sh")
CONSUMERS = Path(__file__).parent / "consumers"


class Toolbox:
    """A folder with a C compiler and CMake and nothing else, as the whole PATH."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found, f"{tool} is missing; scripts/install-packages test installs it"
            (folder / tool).symlink_to(found)
        self.folder = folder

    def run(self, *command: str | Path, **variables: str) -> str:
        environment = {"PATH": str(self.folder), "CC": "gcc", **variables}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def build(
        self, source: Path, build: Path, *settings: str, targets: tuple[str, ...] = ()
    ) -> None:
        """Builds all, or what `targets` name."""
        self.run("cmake", "-G", "Ninja", "-S", source, "-B", build, *settings)
        self.run("cmake", "--build", build, *(("--target", *targets) if targets else ()))


@pytest.fixture(scope="module")
def toolbox(tmp_path_factory: pytest.TempPathFactory) -> Toolbox:
    return Toolbox(tmp_path_factory.mktemp("toolbox") / "bin")


@pytest.fixture(scope="module")
def prefix(root: Path, toolbox: Toolbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the core of this clone is installed."""
    folder = tmp_path_factory.mktemp("core")
    toolbox.build(
        root,
        folder / "build",
        f"-DCMAKE_INSTALL_PREFIX={folder / 'prefix'}",
        "-DHFIT_BUILD_TESTS=ON",
        "-DHFIT_CONTRACT_STEPS=500",  # that they run is the point; the presets run them in full
        targets=("hfit", "contract1"),
    )
    toolbox.run("cmake", "--install", folder / "build")
    return folder / "prefix"


@pytest.fixture(scope="module")
def version(root: Path) -> str:
    header = (root / "core/include/hfit/version.h").read_text()
    found = re.search(r'HFIT_VERSION "([^"]+)"', header)
    assert found
    return found.group(1)


def test_the_toolbox_holds_no_python(toolbox: Toolbox) -> None:
    assert [tool for tool in toolbox.folder.iterdir() if "python" in tool.name] == []


def test_the_contract_suite_needs_no_python(toolbox: Toolbox, prefix: Path) -> None:
    # That it is built and runs is the point: the presets run it for every allocator and level.
    subjects = ("-R", "contract_(tlsf|good_fit|sized|fixed_pool)")
    told = toolbox.run("ctest", "--test-dir", prefix.parent / "build", *subjects)
    assert "100% tests passed" in told


def test_core_installs_headers_library_and_nothing_else(prefix: Path) -> None:
    suffixes = {file.suffix for file in prefix.rglob("*") if file.is_file()}
    assert suffixes == {".h", ".a", ".cmake", ".pc"}


def test_find_package_finds_the_installed_core(
    toolbox: Toolbox, prefix: Path, version: str, tmp_path: Path
) -> None:
    toolbox.build(CONSUMERS / "find_package", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    assert toolbox.run(tmp_path / "consumer").strip() == version


def test_add_subdirectory_builds_the_core_inside_another_project(
    root: Path, toolbox: Toolbox, version: str, tmp_path: Path
) -> None:
    toolbox.build(CONSUMERS / "add_subdirectory", tmp_path, f"-DHFIT_SOURCE={root}")
    assert toolbox.run(tmp_path / "consumer").strip() == version


def test_pkg_config_names_the_flags_of_the_installed_core(
    toolbox: Toolbox, prefix: Path, version: str, tmp_path: Path
) -> None:
    [description] = prefix.rglob("hfit.pc")
    flags = toolbox.run(
        "pkg-config", "--cflags", "--libs", "hfit", PKG_CONFIG_PATH=str(description.parent)
    )
    program = tmp_path / "consumer"
    toolbox.run("gcc", "-std=c11", CONSUMERS / "main.c", "-o", program, *flags.split())
    assert toolbox.run(program).strip() == version
