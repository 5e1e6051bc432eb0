# SPDX-License-Identifier: Apache-2.0
"""The names that core's sources keep for themselves, and a platform that has every one of them."""

import re
from collections.abc import Iterable
from pathlib import Path

from generated_code import ROOT

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_FUNCTION_OR_TABLE = re.compile(
    r"^(?!typedef)[a-z][\w \t*]*?\b([a-z]\w*)(?=[(\[]| =)", re.MULTILINE
)
_TYPE = re.compile(r"^(?:\}\s*|typedef\s[^{;()]*?)\b(\w+);", re.MULTILINE)
_ENUM = re.compile(r"\benum\b\s*\w*\s*\{([^}]*)\}")
_EXTERNAL = re.compile("hfit_|HFIT_")

# A platform's headers by the names that generated files include them by.
PLATFORM_HEADERS = (
    *("zephyr/irq.h", "zephyr/init.h", "FreeRTOS.h", "task.h", "freertos/FreeRTOS.h"),
    *("lwip/opt.h", "lwip/sys.h", "string.h", "stdlib.h", "malloc.h", "errno.h"),
)


def macros_in(texts: Iterable[str]) -> set[str]:
    """Every macro that is defined there."""
    return {name for text in texts for name in _MACRO.findall(_COMMENT.sub("", text))}


def names_in(texts: Iterable[str]) -> set[str]:
    """What else stands there at file scope: functions, tables, types and constants."""
    found: set[str] = set()
    for text in texts:
        plain = _COMMENT.sub("", text)
        constants = (item for body in _ENUM.findall(plain) for item in body.split(","))
        found |= {match[0] for item in constants if (match := re.match(r"\w+", item.strip()))}
        found |= {*_FUNCTION_OR_TABLE.findall(plain), *_TYPE.findall(plain)}
    return {name for name in found if not _EXTERNAL.match(name)}


def core_texts() -> list[str]:
    """All that lies in core's src/."""
    return [path.read_text() for path in sorted((ROOT / "core/src").rglob("*.[ch]"))]


def core_names() -> set[str]:
    """All that core's src/ defines and keeps for itself."""
    return names_in(core_texts()) | macros_in(core_texts())


def write_platform(folder: Path) -> Path:
    """Headers of a platform that has each name of core's: as a macro what core has as one, else as
    a function. They are followed by those of the same name that a compiler finds behind `folder`.
    """
    folder.mkdir(exist_ok=True)
    macros = macros_in(core_texts())
    functions = sorted(names_in(core_texts()) - macros)
    lines = [f"static inline int {name}(void) {{ return 0; }}" for name in functions]
    lines += [f"#define {name} poison" for name in sorted(macros)]
    (folder / "platform.h").write_text("\n".join(["#pragma once", *lines, ""]))
    for name in PLATFORM_HEADERS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"#include_next <{name}>\n#include <platform.h>\n")
    (folder / "user_lock.h").write_text(
        "#include <platform.h>\n"
        "void take_it(void);\nvoid give_it(void);\n"
        "#define APP_HEAP_LOCK() take_it()\n#define APP_HEAP_UNLOCK() give_it()\n"
    )
    return folder
