#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries the recorder, a planned heap and the wheel on aarch64, under qemu-user; `make test-long`.

Debian's cross compiler and its Python of aarch64 are unpacked into a folder of their own, so the
machine's packages stay. One program is recorded on both machines: its requests must be equal, and
so must the first request that is out of memory on a plan's heap. The wheel is installed beside what
it needs and nothing else: its fit of the example must be that of x86-64 byte for byte.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nanobind
import scikit_build_core
from auditwheel.wheeltools import InWheelCtx

from build_packages import build_wheel, manylinux
from heapfit.checks.host_run import PlannedProgram, prepare_program
from heapfit.checks.run import Refusal
from heapfit.importers import import_file
from heapfit.importers.record import record
from heapfit.plan.plan_file import load_plan
from heapfit.trace.stored import Trace

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "build/aarch64"
TOOLS = PLACE / "root"
TARGET = TOOLS / "usr/aarch64-linux-gnu"
PACKAGES = [
    *("gcc-12-aarch64-linux-gnu", "gcc-12-aarch64-linux-gnu-base", "cpp-12-aarch64-linux-gnu"),
    *("binutils-aarch64-linux-gnu", "gcc-12-cross-base", "libgcc-12-dev-arm64-cross"),
    *("libgcc-s1-arm64-cross", "libc6-dev-arm64-cross", "libc6-arm64-cross"),
    *("linux-libc-dev-arm64-cross", "qemu-user", "g++-12-aarch64-linux-gnu"),
    *("libstdc++-12-dev-arm64-cross", "libstdc++6-arm64-cross"),
]
THERE = PLACE / "python"  # Python of aarch64 and the libraries that it loads
PYTHON = [
    *("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib", "libpython3.11-dev"),
    *(
        "libc6",
        "libstdc++6",
        "libgcc-s1",
        "zlib1g",
        "libexpat1",
        "libffi8",
        "libssl3",
        "libbz2-1.0",
    ),
    *("liblzma5", "libsqlite3-0", "libuuid1", "libcrypt1", "libncursesw6", "libtinfo6"),
    *("libreadline8", "libnsl2", "libtirpc3"),
]
EXAMPLE = ROOT / "examples/lwip-echo/lwip-echo.parquet"
REGIONS = (14_000, 20_000, 26_000)
LIBRARY = ["-std=gnu11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-builtin"]
LIBRARY += ["-ftls-model=initial-exec", "-static-libgcc", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64"]
PLAN = 'name = "planned"\nregion = 262144\n[plan]\nallocator = "good_fit"\nalignment = 8\n'


def unpack_tools() -> None:
    unpack(PACKAGES, TOOLS, [])
    state = PLACE / "apt"
    for folder in ("lists/partial", "archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    own = [f"Dir::State={state}", f"Dir::Cache={state}", "Dir::State::status=/dev/null"]
    own += ["APT::Architecture=arm64", "APT::Architectures=arm64"]
    options = [word for one in own for word in ("-o", one)]
    if not THERE.exists():
        subprocess.run(["apt-get", *options, "update", "-qq"], check=True)
    unpack(PYTHON, THERE, options)


def unpack(packages: list[str], root: Path, options: list[str]) -> None:
    if root.exists():
        return
    files = root.with_suffix(".debs")
    files.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", *options, "download", "-qq", *packages], cwd=files, check=True)
    for package in sorted(files.glob("*.deb")):
        subprocess.run(["dpkg", "-x", package, root], check=True)


def compile_there(output: Path, *words: Path | str) -> Path:
    folders = (TOOLS / "usr/lib/gcc-cross/aarch64-linux-gnu/12", TARGET / "lib", TARGET / "bin")
    tools = {"LD_LIBRARY_PATH": str(TOOLS / "usr/lib/x86_64-linux-gnu")}
    command = [TOOLS / "usr/bin/aarch64-linux-gnu-gcc-12", *(f"-B{one}/" for one in folders)]
    command += [f"--sysroot={TOOLS}", "-isystem", TARGET / "include", f"-L{TARGET}/lib"]
    done = [*command, *words, "-o", output, "-lpthread", "-ldl"]
    subprocess.run(done, check=True, env=os.environ | tools)
    return output


def emulate(library: Path, place: Path, *command: Path | str) -> None:
    words = [TOOLS / "usr/bin/qemu-aarch64", "-L", TARGET]
    words += ["-E", f"LD_PRELOAD={library}", "-E", f"HEAPFIT_RECORD={place}", *command]
    subprocess.run(words, check=True)


def requests_of(trace: Trace) -> list[tuple[str, int]]:
    table = trace.to_arrow()
    return list(zip(table["op"].to_pylist(), table["size"].to_pylist(), strict=True))


def record_there(program: Path) -> Trace:
    sources = ("preload", "recording", "lane", "wire_file", "next_heap", "site")
    files = [ROOT / f"recorder/{name}.c" for name in sources]
    library = compile_there(PLACE / "librecord.so", *LIBRARY, *files)
    raw = PLACE / "raw"
    raw.mkdir(exist_ok=True)
    for old in raw.iterdir():
        old.unlink()
    emulate(library, raw, program)
    (wire,) = raw.iterdir()
    return import_file(wire, PLACE / "there.parquet")


def refuse_there(here: PlannedProgram, program: Path) -> list[Refusal | None]:
    """The first refusals on aarch64, by the library that was made here, compiled for there."""
    generated = [*here.folder.rglob("*.c")]
    names = ("preload", "planned_heap", "next_heap", "site")
    files = [*generated, *(ROOT / f"recorder/{name}.c" for name in names)]
    flags = [*LIBRARY, "-DHFIT_PLANNED_HEAP", f"-I{here.folder}", "-include", "run_heap.h"]
    library = compile_there(PLACE / "libplanned.so", *flags, *files)
    found = []
    for region in REGIONS:
        file = PLACE / "run"
        here.write_request(file, region)
        emulate(library, file, program)
        found.append(here.read_run(file, region, 0, 0.0).first)
    return found


def write_toolchain() -> Path:
    """A CMake toolchain of the unpacked compilers, which look for their parts beside them."""
    folders = (TOOLS / "usr/lib/gcc-cross/aarch64-linux-gnu/12", TARGET / "lib", TARGET / "bin")
    words = [*(f"-B{one}/" for one in folders), f"--sysroot={TOOLS}", f"-L{TARGET}/lib"]
    words += [f"-idirafter {TARGET}/include", f"-idirafter {THERE}/usr/include"]
    lines = ["set(CMAKE_SYSTEM_NAME Linux)", "set(CMAKE_SYSTEM_PROCESSOR aarch64)"]
    for language, tool in (("C", "gcc"), ("CXX", "g++")):
        script = PLACE / tool
        script.write_text(
            f"#!/bin/sh\nexport LD_LIBRARY_PATH={TOOLS}/usr/lib/x86_64-linux-gnu\n"
            f'exec {TOOLS}/usr/bin/aarch64-linux-gnu-{tool}-12 {" ".join(words)} "$@"\n'
        )
        script.chmod(0o755)
        lines.append(f"set(CMAKE_{language}_COMPILER {script})")
    for tool in ("AR", "RANLIB", "STRIP", "OBJCOPY"):
        lines.append(f"set(CMAKE_{tool} {TOOLS}/usr/bin/aarch64-linux-gnu-{tool.lower()})")
    file = PLACE / "toolchain.cmake"
    file.write_text("\n".join(lines) + "\n")
    return file


def build_extension() -> Path:
    """Builds the extension and the recorder for aarch64; returns the folder of the build."""
    build, packages = PLACE / "extension", Path(scikit_build_core.__file__).parent
    defined = {
        "CMAKE_TOOLCHAIN_FILE": write_toolchain(),
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_MODULE_PATH": packages / "resources/find_python",
        "SKBUILD": 2,
        "SKBUILD_SOABI": "abi3",
        "SKBUILD_SABI_VERSION": "3.11",
        "Python_EXECUTABLE": sys.executable,
        "Python_INCLUDE_DIR": THERE / "usr/include/python3.11",
        "Python_ROOT_DIR": THERE / "usr",
        "nanobind_DIR": nanobind.cmake_dir(),
    }
    options = [f"-D{name}={value}" for name, value in defined.items()]
    tools = os.environ | {"LD_LIBRARY_PATH": str(TOOLS / "usr/lib/x86_64-linux-gnu")}
    words = ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *options]
    subprocess.run(words, check=True, env=tools, stdout=subprocess.DEVNULL)
    made = ["cmake", "--build", build, "--target", "_engine", "heapfit_record"]
    subprocess.run(made, check=True, env=tools, stdout=subprocess.DEVNULL)
    return build


def make_wheel(build: Path) -> Path:
    """The wheel of this machine with what was compiled for aarch64; returns its path."""
    wheels = PLACE / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    wheels.mkdir()
    here = build_wheel(wheels)
    there = wheels / here.name.replace("x86_64", "aarch64")
    with InWheelCtx(here, there) as unpacked:
        folder = Path(unpacked.path) / "heapfit"
        for old in folder.glob("*.so"):
            old.unlink()
        for made in ("python/bindings/_engine.abi3.so", "recorder/libheapfit_record.so"):
            shutil.copy(build / made, folder)
        (described,) = Path(unpacked.path).glob("*.dist-info/WHEEL")
        described.write_text(described.read_text().replace("x86_64", "aarch64"))
    here.unlink()
    return manylinux(there)


def install_wheel(wheel: Path) -> Path:
    """Installs a wheel, and what it needs of the registry, into an empty folder for aarch64."""
    folder = PLACE / "installed"
    shutil.rmtree(folder, ignore_errors=True)
    systems = [f"--platform=manylinux_2_{minor}_aarch64" for minor in (17, 24, 26, 27, 28, 34)]
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:", *systems]
    words += ["--python-version=3.11", f"--target={folder}", wheel]
    subprocess.run(words, check=True)
    return folder


def python_there(folder: Path) -> list[Path | str]:
    """The words that start Python of aarch64 with what is installed in a folder."""
    libraries = ":".join(str(THERE / one / "aarch64-linux-gnu") for one in ("lib", "usr/lib"))
    settings = {"LD_LIBRARY_PATH": libraries, "PYTHONHOME": THERE / "usr", "PYTHONPATH": folder}
    words = [TOOLS / "usr/bin/qemu-aarch64", "-L", THERE]
    words += [word for name, value in settings.items() for word in ("-E", f"{name}={value}")]
    return [*words, THERE / "usr/bin/python3.11"]


def fit(python: list[Path | str], place: Path) -> dict[str, bytes]:
    """Fits the example; all files that are written, by name."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    words = [*python, "-m", "heapfit", "fit", EXAMPLE, "-o", "fitted"]
    subprocess.run(words, cwd=place, check=True, stdout=subprocess.DEVNULL)
    files = filter(Path.is_file, place.rglob("*"))
    return {str(one.relative_to(place)): one.read_bytes() for one in files}


def compare_fits() -> int:
    """Fits the example on both machines; returns the number of files, which must be equal."""
    here = fit([sys.executable], PLACE / "here")
    there = fit(python_there(install_wheel(make_wheel(build_extension()))), PLACE / "there")
    differ = {name for name in here.keys() | there.keys() if here.get(name) != there.get(name)}
    if differ:
        sys.exit(f"aarch64: the wheel's fit differs in {', '.join(sorted(differ))}")
    return len(here)


def main() -> None:
    unpack_tools()
    source = ROOT / "tests/python/programs/drilled.c"
    flags = ["-O0", "-fno-builtin", "-w"]
    there = compile_there(PLACE / "drilled-there", *flags, source)
    here = PLACE / "drilled-here"
    subprocess.run(["cc", *flags, source, "-o", here], check=True)
    recorded = record([str(here)], PLACE / "here.parquet").trace
    assert recorded is not None, "the program asks for memory"
    if requests_of(recorded) != requests_of(record_there(there)):
        sys.exit("aarch64: the recording has other requests than x86-64's")
    (PLACE / "plan.toml").write_text(PLAN)
    with prepare_program(load_plan(PLACE / "plan.toml"), [str(here)]) as program:
        expected = [program.run(region, 60).first for region in REGIONS]
        if refuse_there(program, there) != expected or None in expected:
            sys.exit("aarch64: other requests are out of memory than on x86-64")
    print(f"aarch64: the wheel's fit has the same {compare_fits()} files as x86-64's")
    print(f"aarch64: {recorded.info.events} events and {len(REGIONS)} refusals as on x86-64")


if __name__ == "__main__":
    main()
