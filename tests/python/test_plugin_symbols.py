# SPDX-License-Identifier: Apache-2.0
"""What an assembler can write into a plug-in's object is refused, or seen by its child alone."""

import subprocess
from functools import cache
from pathlib import Path

import pytest

from grid import of_the_day, thin
from heapfit.errors import HeapfitError
from heapfit.plugin import INCLUDE, Plugin, build
from heapfit.plugin.building import IMAGE, host_objects

SOUND = Path(__file__).parent / "plugins/faulty.c"
# Leaves a file. What is `kept` stays in the object, as the sound heap's constructor reads it.
CODE = """
 .macro LEAVE
 mov $2, %eax
 lea leaves(%rip), %rdi
 mov $0101, %esi
 mov $0600, %edx
 syscall
 ret
 .endm
 .text
early: LEAVE
 .section .rodata.leaves,"a",@progbits
leaves: .asciz "{trace}"
"""
NAMES = (
    *("memset", "prctl", "fork", "pread", "mmap", "syscall", "printf", "sigaction"),
    *("main", "_start", "_init", "__libc_start_main", "end_child", "only_compute", "told"),
    *("host_malloc", "plugin_entries", "first_constructor", "_GLOBAL_OFFSET_TABLE_"),
)
BINDINGS = ("globl", "weak", "local")
VISIBILITIES = ("", "hidden", "internal", "protected")
TYPES = {
    **dict.fromkeys(("function", "object", "notype", "tls_object", "common"), False),
    **dict.fromkeys(("gnu_indirect_function", "gnu_unique_object"), True),
}
KINDS = ("progbits", "nobits", "note", "init_array", "fini_array", "preinit_array", "unwind", "14")
FLAGS = ("a", "aw", "ax", "awx", "awT", "aG", "aM", "aR", "ae", "o", "")
SECTIONS = {  # whether one is refused, whatever its flags and kind are
    **dict.fromkeys((".text.mine", ".data.mine", ".rodata.mine", "mine", ".eh_frame"), False),
    **dict.fromkeys((".init_array", ".preinit_array", ".init_array.00009"), False),
    ".llvm_addrsig": False,  # in what clang makes
    **dict.fromkeys((".init", ".fini", ".ctors", ".dtors.1", ".jcr", ".interp", ".dynamic"), True),
    **dict.fromkeys((".plt", ".got", ".got.plt", ".dynsym", ".dynstr", ".hash", ".iplt"), True),
    **dict.fromkeys((".rela.dyn", ".rela.plt", ".rela.iplt", ".gnu.version", ".symtab2"), True),
    **dict.fromkeys((".gnu.warning.memset", ".gnu.linkonce.t.memset", ".gnu.lto_mine"), True),
    **dict.fromkeys(("__libc_atexit", "__libc_subfreeres", ".fini_array_of", '" .init"'), True),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """A sound heap whose constructor reads what is kept, and the host, compiled."""
    folder = tmp_path_factory.mktemp("sound")
    (folder / "sound.c").write_text(
        f'#define FAULT NONE\n#include "{SOUND}"\nextern volatile char kept[] '
        "__attribute__((weak));\nvolatile char *it;\n"
        "__attribute__((constructor)) static void keep(void) { it = kept; }\n"
    )
    words = ("gcc", "-O1", "-fno-pie", f"-I{INCLUDE}", "-c", "sound.c", "-o", "sound.o")
    subprocess.run(words, cwd=folder, check=True)
    return folder / "sound.o", host_objects(64, folder / "host")


def is_refused(code: str, sound: tuple[Path, list[Path]], folder: Path) -> bool:
    """Whether the object is; it left nothing behind, and changed nothing of the host."""
    folder.mkdir(exist_ok=True)
    head = CODE.format(trace=folder / "trace")
    (folder / "hostile.s").write_text(head + code)
    words = ("gcc", "-c", "hostile.s", "-o", "hostile.o")
    done = subprocess.run(words, cwd=folder, check=False, capture_output=True)
    if done.returncode != 0:
        return True  # no assembler writes that
    heap, host = sound
    hostile = Plugin("hostile", (heap, folder / "hostile.o"), 64)
    try:
        built = build(hostile, folder / "built", host)
    except HeapfitError as error:
        assert "\n" not in str(error)
        assert not (folder / "trace").exists()
        return True
    (folder / "events").touch()
    words = (built.program, built.program.with_suffix(IMAGE), folder / "events", "8", "1")
    told = subprocess.run(words, input="places 4096\n", capture_output=True, text=True, check=False)
    assert not (folder / "trace").exists()
    if told.returncode == 1:  # segments that would share a page
        assert told.stdout == "" and len(told.stderr.splitlines()) == 1
        return True
    assert (told.returncode, len(told.stdout.splitlines())) == (0, 2), told.stderr
    assert of_host(built.program) == of_host(built_sound(heap))
    return False


@cache
def built_sound(heap: Path) -> Path:
    return build(Plugin("sound", (heap,), 64), heap.parent / "built").program


def of_host(program: Path) -> set[str]:
    """The names that a program defines, with their binding and type."""
    words = ("readelf", "--wide", "--syms", program)
    listing = subprocess.check_output(words, text=True)
    rows = (line.split() for line in listing.splitlines())
    return {" ".join((*row[3:6], row[7])) for row in rows if len(row) == 8 and row[6].isdecimal()}


def symbol(name: str, kind: str, binding: str = "globl", visibility: str = "") -> str:
    seen = f" .{visibility} {name}\n" if visibility else ""
    return (
        f' .section .text.kept,"ax"\n .globl kept\nkept: .{binding} {name}\n{seen}'
        f" .type {name}, @{kind}\n{name}: LEAVE\n .size {name}, 32\n"
    )


@pytest.mark.parametrize("kind", TYPES)
def test_a_symbol_of_any_type_binding_and_visibility(
    kind: str, sound: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    for binding, visibility in thin(2, BINDINGS, VISIBILITIES):
        code = symbol("memset", kind, binding, visibility)
        assert is_refused(code, sound, tmp_path) == TYPES[kind], (binding, visibility)


@pytest.mark.parametrize("kind", ["function", "gnu_unique_object"])
def test_a_symbol_named_as_one_that_the_host_calls(
    kind: str, sound: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    for (name,) in thin(3, NAMES):
        assert is_refused(symbol(name, kind), sound, tmp_path) == TYPES[kind], name


def test_a_name_is_not_unfolded(sound: tuple[Path, list[Path]], tmp_path: Path) -> None:
    bomb = "_RMC0TTppETB3_B3_ETB7_B7_ETBf_Bf_ETBn_Bn_ETBv_Bv_ETBD_BD_EE"  # each has the last twice
    (tmp_path / "bomb.s").write_text(
        f' .section .data.kept,"aw"\n .globl kept\nkept: .quad 1\n .size {bomb}, 64\n'
        f" .type {bomb}, @object\n{bomb}: .zero 64\n"
    )
    subprocess.run(("gcc", "-c", "bomb.s", "-o", "bomb.o"), cwd=tmp_path, check=True)
    heap, host = sound
    built = build(Plugin("bomb", (heap, tmp_path / "bomb.o"), 64), tmp_path / "built", host)
    assert built.statics[0] == (bomb, 64)


@pytest.mark.parametrize(
    "version", ["memset@V1", "memset@@V1", "memset@@@V1", "memset@GLIBC_2.2.5"]
)
@pytest.mark.parametrize("is_defined", [True, False])
def test_a_symbol_with_a_version(
    version: str, is_defined: bool, sound: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    calls = ' .section .text.kept,"ax"\n .globl kept\nkept: call mine\n'
    code = symbol("mine", "function") if is_defined else calls
    assert is_refused(f"{code} .symver mine, {version}\n", sound, tmp_path) or is_defined


# A name of 16 KiB, which a listing has at each of 8,000 places.
NAMED_OFTEN = """
 .macro named n, name
 .if \\n
 named "(\\n - 1)", \\name\\name
 .else
 .globl \\name
\\name: .rept 8000
 .quad \\name
 .endr
 .endif
 .endm
 named 14, A"""
# What an object has, and why it is refused: a variable of a library would be the host's, too.
COSTLY = {
    ".quad _rtld_global": "uses _rtld_global of the C library",
    ".quad environ": "uses __environ of the C library",
    ".p2align 30\n .quad 1": "File size limit exceeded",
    NAMED_OFTEN: "readelf: File size limit exceeded",
    ".quad stderr": None,
    '.quad 1\n .section .debug_str,""\n .zero 1 << 24': None,  # compressed to 16 KB, and left out
}


@pytest.mark.parametrize("code", COSTLY, ids=range(len(COSTLY)))
def test_an_object_takes_no_room_beyond_its_own_and_nothing_of_the_hosts(
    code: str, sound: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    (tmp_path / "some.s").write_text(f' .section .data.kept,"aw"\n .globl kept\nkept: {code}\n')
    words = ("gcc", "-c", "-gz", "some.s", "-o", "some.o")
    subprocess.run(words, cwd=tmp_path, check=True)
    heap, host = sound
    plugin = Plugin("some", (heap, tmp_path / "some.o"), 64)
    if why := COSTLY[code]:
        with pytest.raises(HeapfitError, match=why):
            build(plugin, tmp_path / "built", host)
    else:
        build(plugin, tmp_path / "built", host)
        files = [one.stat().st_size for one in tmp_path.rglob("*")]
        assert sum(files) < 1 << 20


RELOCATIONS = subprocess.check_output(("grep", "-o", r"R_X86_64_\w*[^M]\b", "/usr/include/elf.h"))


@pytest.mark.parametrize("name", of_the_day(8, sorted({*RELOCATIONS.decode().split()})))
def test_a_relocation_of_any_kind(
    name: str, sound: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    code = ' .section .text.kept,"ax"\n .globl kept\nkept: .quad 0\n .globl early\n'
    refused = is_refused(f"{code} .reloc kept, {name}, early\n", sound, tmp_path)
    assert refused or "IRELATIVE" not in name


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_of_any_name(name: str, sound: tuple[Path, list[Path]], tmp_path: Path) -> None:
    for flags in ("a", "awx"):
        code = f' .section {name},"{flags}"\n .globl kept\nkept: .quad early\n'
        assert is_refused(code, sound, tmp_path) == SECTIONS[name], flags


@pytest.mark.parametrize("kind", KINDS)
def test_a_section_of_any_kind(kind: str, sound: tuple[Path, list[Path]], tmp_path: Path) -> None:
    for name, flags in thin(2, ("mine", ".init_array"), FLAGS):
        more = {"G": ",mine,comdat", "M": ",8", "o": ",.text"}.get(flags[-1:], "")
        content = ".zero 8" if kind == "nobits" else ".quad early"
        code = f' .section {name},"{flags}",@{kind}{more}\n .globl kept\nkept: {content}\n'
        is_refused(code, sound, tmp_path)


def test_the_host_never_maps_the_image(sound: tuple[Path, list[Path]], tmp_path: Path) -> None:
    heap, host = sound
    program = build(Plugin("sound", (heap,), 64), tmp_path, host).program
    (tmp_path / "events").touch()
    words = (program, program.with_suffix(IMAGE), tmp_path / "events", "8", "1")
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin and process.stdout
        for question in ("places 4096", "places 8192", "attack 1 65536"):
            print(question, file=process.stdin, flush=True)
            process.stdout.readline()
            maps = Path(f"/proc/{process.pid}/maps").read_text()
            starts = [int(line.partition("-")[0], 16) for line in maps.splitlines()]
            assert ".image" not in maps
            assert not any(0x60000000 <= start < 0x78000000 for start in starts)
