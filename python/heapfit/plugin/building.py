# SPDX-License-Identifier: Apache-2.0
"""Builds a plug-in: one object that exports only the adapter's functions, linked by itself.

    sources -> objects -> one object, without what nothing calls -> its image
                                   names that it calls -> host program -^ their addresses

The host and the image are two files: no name of a plug-in's is ever bound to one of the host's, and
the host's child alone maps the image, once it is to be confined (host/image.h). What the plug-in
calls of a C library's heap becomes the host's, which tells of it. Its constructors are run by that
child.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from heapfit import external_tool
from heapfit.errors import HeapfitError
from heapfit.plugin.sources import COMPILED, CXX_SOURCES, INCLUDE, Plugin

# Of a few bytes an alignment, a fill or what is packed makes gigabytes.
run = partial(external_tool.run, largest=1 << 29)
# What lists an archive prints about as many bytes as it has, but a long name a million times.
tell = partial(external_tool.run, largest=1 << 26)
HOST = Path(__file__).parent / "host"
IMAGE = ".image"  # beside the host program
ENTRIES = tuple(
    f"plugin_{name}"
    for name in (
        *("init", "alloc", "alloc_aligned", "resize", "free"),
        *("resize_sized", "free_sized"),
    )
)
_RUST_TARGETS = {32: "i686-unknown-linux-gnu", 64: "x86_64-unknown-linux-gnu"}
_FLAGS = (
    "-O2",
    "-g0",
    "-fno-pie",
    "-fno-stack-protector",
    "-ffunction-sections",
    "-fdata-sections",
)
_CXX_FLAGS = ("-fno-gnu-unique",)  # a binding that would be refused
# Nothing but code that is code already: bytecode would be compiled as its object wishes.
_LINKED = ("-nostdlib", "-no-pie", "-fno-use-linker-plugin")
_IMAGE = (
    *(*_LINKED, "-static", f"-Wl,-T,{HOST / 'constructors.ld'}"),
    # host/image.c: LOWEST
    *("-Wl,-Ttext-segment=0x60000000", "-Wl,-z,max-page-size=4096", "-Wl,-z,norelro"),
    *("-Wl,--build-id=none", "-Wl,-e,plugin_entries"),
)
# Each access that is left in the optimised code; the function's begin and end are of no interest.
_METERED = ("-fsanitize=thread", "--param=tsan-instrument-func-entry-exit=0")
_TO_HOST = {
    **dict.fromkeys(("malloc",), "host_malloc"),
    **dict.fromkeys(("calloc",), "host_calloc"),
    **dict.fromkeys(("realloc",), "host_realloc"),
    **dict.fromkeys(("aligned_alloc", "memalign"), "host_aligned"),
    **dict.fromkeys(("sbrk", "_sbrk"), "host_sbrk"),
    **dict.fromkeys(("abort", "__assert_fail"), "host_abort"),
}
_COPIES = {name: f"host_{name}" for name in ("memcpy", "memmove", "memset")}
# Data for the linker, but nobody's variables.
_CONSTANT = re.compile(r"^(?:\.data\.rel\.ro|plugin_constructors)(?:\..*)?$", re.ASCII)
_MOST_STATICS = 1 << 28  # bytes, which every replay may touch
_CONSTRUCTORS = re.compile(r"^\.(?:preinit|init)_array(\.\S+)?$", re.ASCII)
_DESTRUCTORS = re.compile(r"^\.fini_array(\.\S+)?$", re.ASCII)
# A linker gives each of these no meaning but its content's. Others may run, or decide what runs, in
# the host itself: at its start, its end, or as it is bound; or while they are linked.
_INERT = re.compile(
    r"^(?:\.(?:l?rodata|l?data|l?bss|text|tdata|tbss|eh_frame|gcc_except_table|comment|note|group"
    r"|debug_\w+|llvmbc|llvmcmd|llvm_addrsig)(?:\..*)?|(?!__libc_)[A-Za-z_]\w*(?:\.\w+)?)$",
    re.ASCII,
)
_RESOLVER = re.compile(r"^\s*\d+: \S+ +\S+ +(?:IFUNC|<)|^\S+ +\S+ +R_\w+_IRELATIV", re.MULTILINE)
# What may be in the table of symbols of an object that is linked: names that are its own, the
# adapter's functions, and plain names of others'.
_PERMITTED = re.compile(
    r"^ *\d+: [0-9a-f]+ +(?:\d+|0x[0-9a-f]+) "
    r"(?:(?:NOTYPE|OBJECT|FUNC|SECTION|FILE|COMMON|TLS) +LOCAL +\w+ +(?:\d+|ABS|COM|UND)(?: .*)?"
    rf"|(?:NOTYPE|FUNC) +(?:GLOBAL|WEAK) +DEFAULT +\d+ (?:{'|'.join(ENTRIES)})"
    r"|(?:NOTYPE|FUNC|OBJECT|TLS) +(?:GLOBAL|WEAK) +\w+ +UND [A-Za-z_][\w.$]*)$",
    re.ASCII,
)
# A variable of a library that a program names becomes the program's: it is the host's then, too,
# as the three streams are anyway.
_COPIED = re.compile(r"R_\w+_COPY +\S+ +(?!std(?:in|out|err)\b)([A-Za-z_]\w*)", re.ASCII)
_SYMBOLS = re.compile(r"^(?:Symbol table '\.symtab' .*| +Num: .*|)$")
_SECTION = re.compile(r"(\S+) +(\d+) +\d+")
_HEADING = re.compile(r"section +size +addr|Total +\d+|")
_SYMBOL = re.compile(r"^[0-9a-f]+ ([0-9a-f]+) [bBdDsSgG] (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Built:
    """Programs that answer questions about a plug-in (host/host.c)."""

    plugin: Plugin
    program: Path
    metered: Path | None  # that counts loads and stores; None for what comes compiled
    statics_bytes: int  # of all variables together, gaps included; part of every reported region
    statics: tuple[tuple[str, int], ...]  # the names and bytes of those that have names


def build(plugin: Plugin, folder: Path, host: Sequence[Path] | None = None) -> Built:
    """Builds in `folder`, which is kept as long as the result is used.

    `host` are its objects where several plug-ins share them. HeapfitError, with the compiler's last
    words, if it cannot be built.
    """
    folder.mkdir(parents=True, exist_ok=True)
    own = host_objects(plugin.bits, folder / "host_objects") if host is None else host
    plain = _plugin_object(plugin, folder / "plain", ())
    program = _link(plugin, own, plain, _TO_HOST)
    metered = None
    if plugin.is_metered:
        object_file = _plugin_object(plugin, folder / "metered", _METERED)
        metered = _link(plugin, own, object_file, _TO_HOST | _COPIES)
    size, statics = _statics(plain)
    if size > _MOST_STATICS:
        raise HeapfitError(
            f"{plugin.name}: has {size:,} B of variables (at most {_MOST_STATICS:,})"
        )
    return Built(plugin, program, metered, size, statics)


def host_objects(bits: int, folder: Path) -> list[Path]:
    """The host program without a plug-in, and the table of functions that an image begins with.

    Compiled in `folder`. Of the host a plug-in sees what is made for it alone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sources = sorted(HOST.glob("*.c"))
    compiler = ("gcc", f"-m{bits}", "-std=gnu11", "-O2", "-fno-pie", f"-I{INCLUDE}")
    run([*compiler, "-c", *sources], folder)
    made = [f"{source.stem}.o" for source in sources if source.stem != "entries"]
    run(["gcc", f"-m{bits}", *_LINKED, "-r", *made, "-o", "all.o"], folder)
    seen = [f"--keep-global-symbol={name}" for name in ("main", "host_*", "__tsan_*")]
    run(["objcopy", "--wildcard", *seen, "all.o", "host.o"], folder)
    return [folder / "host.o", folder / "entries.o"]


def _plugin_object(plugin: Plugin, folder: Path, flags: Sequence[str]) -> Path:
    folder.mkdir(exist_ok=True)
    parts = list(_parts(plugin, folder, flags))
    _require_inert(plugin, [part for part in parts if part in plugin.sources])
    _require_adapter(plugin, parts)
    joined = join(parts, folder, flags=(f"-m{plugin.bits}",))
    settled = folder / "plugin.o"
    moved = [
        f"--rename-section={name}=plugin_constructors{one[1] or ''}"
        for name, _ in _sections(joined)
        if (one := _CONSTRUCTORS.match(name))
    ]
    # The host ends without destructors: they would run outside the child.
    run(
        ["objcopy", *moved, "--remove-section=.fini_array", "--remove-section=.fini_array.*",
         joined.name, settled.name],
        folder,
    )  # fmt: skip
    _require_inert(plugin, [settled])
    _require_plain(plugin, settled)
    return settled


def _require_plain(plugin: Plugin, settled: Path) -> None:
    """HeapfitError if anything but the adapter's functions can be seen, or more than is plain."""
    for line in tell(["readelf", "--wide", "--syms", settled.name], settled.parent).split("\n"):
        if not (_PERMITTED.match(line) or _SYMBOLS.match(line)):
            kind = " ".join(line.split()[3:])
            raise HeapfitError(
                f"{plugin.name}: has the symbol {kind} (only plain functions and "
                "variables may be had; of C++ try -fno-gnu-unique)"
            )


def _require_inert(plugin: Plugin, parts: Sequence[Path]) -> None:
    """HeapfitError if code would run before the host's child is confined (host/host.c)."""
    for part in parts:
        named = (name for name, _ in _sections(part))
        kinds = (_INERT, _CONSTRUCTORS, _DESTRUCTORS)
        found = sorted({name for name in named if not any(kind.match(name) for kind in kinds)})
        listing = ["readelf", "--wide", "--syms", "--relocs", f"./{part.name}"]
        if not found and _RESOLVER.search(tell(listing, part.parent)):
            found = ["an IFUNC resolver"]
        if found:
            raise HeapfitError(
                f"{plugin.name}: has {', '.join(found)}, which could run outside the process that "
                "confines it (leave it out; constructors may stay)"
            )


def join(
    parts: Sequence[Path], folder: Path, *, tools: str = "", flags: Sequence[str] = ()
) -> Path:
    """Links what the adapter's functions need into one object that exports only these.

    `tools` is the prefix of gcc's programs, `flags` choose a processor.
    """
    made, joined = folder / "parts.o", folder / "joined.o"
    roots = [f"-Wl,-u,{name}" for name in ENTRIES]
    options = (*_LINKED, "-r", "-Wl,-d,-S,--gc-sections", "-Wl,-e,plugin_init", *roots)
    command = [f"{tools}gcc", *flags, *options]
    run([*command, "-Wl,--start-group", *parts, "-Wl,--end-group", "-o", made.name], folder)
    # Rust's bitcode, joined: binary tools that have a plug-in of LLVM's fall over it.
    run(
        [f"{tools}objcopy", "--remove-section=.llvmbc", "--remove-section=.llvmcmd", made.name],
        folder,
    )
    called = _read_undefined(f"{tools}nm", made)
    seen = [f"--keep-global-symbol={name}" for name in ENTRIES]
    left_out = [f"--weaken-symbol={name}" for name in ENTRIES if name in called]
    run([f"{tools}objcopy", *seen, *left_out, made.name, joined.name], folder)
    return joined


def _require_adapter(plugin: Plugin, parts: Sequence[Path]) -> None:
    if not any(
        "plugin_init" in tell(["nm", "-j", "--defined-only", one], one.parent).split()
        for one in parts
    ):
        raise HeapfitError(
            f"{plugin.name}: has no plugin_init (see heapfit_plugin.h, in {INCLUDE})"
        )


def _parts(plugin: Plugin, folder: Path, flags: Sequence[str]) -> Iterator[Path]:
    if plugin.is_crate:
        yield crate_archive(plugin, folder, _RUST_TARGETS[plugin.bits])
        return
    for number, source in enumerate(plugin.sources):
        made = source if source.suffix in COMPILED else folder / f"{number}-{source.stem}.o"
        if made != source:
            compiler = ("g++", *_CXX_FLAGS) if source.suffix in CXX_SOURCES else ("gcc",)
            options = (f"-m{plugin.bits}", f"-I{INCLUDE}", *_FLAGS, *plugin.cflags, *flags)
            run([*compiler, *options, "-c", source, "-o", made.name], folder)
        yield made


def crate_archive(plugin: Plugin, folder: Path, target: str, optimisation: str = "3") -> Path:
    """The archive that cargo makes of a staticlib crate; levels are 0 to 3, s and z."""
    (crate,) = plugin.sources
    level = optimisation if optimisation.isdigit() else f'"{optimisation}"'
    settings = (
        '--config=profile.release.panic="abort"',
        "--config=profile.release.lto=true",
        f"--config=profile.release.opt-level={level}",
        f'--config=env.HEAPFIT_PLUGIN_RS="{INCLUDE / "heapfit_plugin.rs"}"',
    )
    command = ["cargo", "build", "--quiet", "--release", "--target", target, *settings]
    try:
        run([*command, "--target-dir", folder], crate)
    except HeapfitError as error:
        bits = ", or give --pointer-bits 64" if target == _RUST_TARGETS[32] else ""
        raise HeapfitError(
            f"{crate}: cargo cannot build it (the target: `rustup target add {target}`{bits}): "
            f"{error}"
        ) from error
    archives = sorted((folder / target / "release").glob("lib*.a"))
    if len(archives) != 1:
        raise HeapfitError(
            f'{crate}: makes no archive (its [lib] needs crate-type = ["staticlib"])'
        )
    return archives[0]


def _read_undefined(nm: str, joined: Path) -> set[str]:
    """The names that an object needs from elsewhere, and not weakly."""
    listing = tell([nm, "--undefined-only", "--format=posix", joined.name], joined.parent)
    return set(re.findall(r"^(\S+) U\b", listing, re.MULTILINE))


def _link(plugin: Plugin, host: Sequence[Path], settled: Path, others: Mapping[str, str]) -> Path:
    """The host that knows what a plug-in calls, and the image beside it; returns the host.

    `others` are the names of the host's own functions for some of these.
    """
    folder, compiler = settled.parent, ("gcc", f"-m{plugin.bits}")
    called = sorted(_read_undefined("nm", settled) - {"_GLOBAL_OFFSET_TABLE_"})  # the linker's
    words = "".join(f'.long "{others.get(name, name)}"\n' for name in called)
    (folder / "called.s").write_text(f'.section plugin_calls,"a"\n.long 0\n{words}')
    program, entries = folder / "host", host[1]
    options = ("-no-pie", "-Wl,-z,now,-z,noexecstack")
    try:
        run([*compiler, *options, host[0], "called.s", "-lm", "-o", program], folder)
    except HeapfitError as error:
        raise HeapfitError(
            f"{plugin.name}: calls what none of its sources has (give the folder of all): {error}"
        ) from error
    if copied := _COPIED.findall(tell(["readelf", "--wide", "--relocs", program.name], folder)):
        raise HeapfitError(f"{plugin.name}: uses {', '.join(copied)} of the C library")
    run(["objcopy", "-O", "binary", "--only-section=plugin_calls", program.name, "calls"], folder)
    _, *addresses = struct.unpack(f"<{len(called) + 1}I", (folder / "calls").read_bytes())
    (folder / "calls.ld").write_text(
        "".join(
            f"PROVIDE({name} = {address:#x});\n"
            for name, address in zip(called, addresses, strict=True)
        )
    )
    run(
        [
            *(*compiler, *_IMAGE, entries, settled.name, "calls.ld"),
            *("-o", program.with_suffix(IMAGE).name),
        ],
        folder,
    )
    return program


def _sections(path: Path) -> Iterator[tuple[str, int]]:
    """The sections of an object or archive, with their bytes.

    Each line of a name that has several, or spaces, is a section of its own, so that none is
    missed. A path's first byte is no `@` or `-`, which would have a tool look at another file, and
    no tool opens the files, or pipes, that a thin archive names.
    """
    name, is_thin = f"./{path.name}", path.read_bytes().startswith(b"!<thin>")
    for line in (
        ["names of other files (a thin archive: `ar rc` makes a whole one)"]
        if is_thin
        else tell(["size", "-A", name], path.parent).splitlines()
    ):
        found = _SECTION.fullmatch(line)
        is_member = path.suffix == ".a" and line.endswith(f"(ex {name}):")
        if found:
            yield found[1], int(found[2])
        elif not (is_member or line == f"{name}  :" or _HEADING.fullmatch(line)):
            yield line, 0


def _statics(settled: Path) -> tuple[int, tuple[tuple[str, int], ...]]:
    data, bss = tell(["size", settled.name], settled.parent).splitlines()[1].split()[1:3]
    constant = sum(size for name, size in _sections(settled) if _CONSTANT.match(name))
    # As they are: a few back references in a name can stand for gigabytes of one.
    found = _SYMBOL.findall(tell(["nm", "-S", "--defined-only", settled.name], settled.parent))
    statics = sorted(
        ((name, int(size, 16)) for size, name in found), key=lambda one: (-one[1], one[0])
    )
    return int(data) + int(bss) - constant, tuple(statics)
