# SPDX-License-Identifier: Apache-2.0
"""A generated folder's files for languages other than C: the same heap under their own names.

The C stays as it is; these files are added and call the functions of its header.
"""

from __future__ import annotations

import re

from heapfit.errors import HeapfitError
from heapfit.generate.names import Text
from heapfit.generate.tables import HeapDesign
from heapfit.plan.targets import Language

_RESERVED = re.compile(r"__|_$")  # C++ reserves names with two underscores, Rust warns of them


# Names of files, made of the prefix, and the templates they are filled from.
_FILES = {
    Language.C: {},
    Language.CXX: {"{}_heap.hpp": "heap.hpp.j2", "{}_new.cpp": "new.cpp.j2"},
    Language.RUST: {
        "Cargo.toml": "Cargo.toml.j2",
        "build.rs": "build.rs.j2",
        "lib.rs": "lib.rs.j2",
    },
}


def language_templates(language: Language, prefix: Text) -> dict[str, str]:
    """The templates of a language's own files, by file name."""
    return {name.format(prefix): template for name, template in _FILES[language].items()}


def require_fit(design: HeapDesign, language: Language) -> None:
    """HeapfitError if the design's prefix or its region does not suit the language.

    No keyword is made of a prefix: each name has more behind it.
    """
    if language is Language.C:
        return
    if design.is_given:
        raise HeapfitError(
            f"language {language.value}: the first request makes the heap, so it cannot take "
            "a region (omit --region-given or --language)"
        )
    if _RESERVED.search(f"{design.prefix}"):
        raise HeapfitError(
            f"prefix {str(design.prefix)!a}: names of {language.value} must not hold two _ side by "
            "side (for example: app)"
        )
