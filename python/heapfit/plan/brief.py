# SPDX-License-Identifier: Apache-2.0
"""Records whose repr is one line."""

from __future__ import annotations

from dataclasses import fields
from textwrap import shorten
from typing import Any, cast


class Brief:
    """A dataclass, made with `repr=False`, that prints its plain values alone, in one line."""

    __slots__ = ()

    def __repr__(self) -> str:
        values = ((one.name, getattr(self, one.name)) for one in fields(cast("Any", self)))
        plain = (f"{name}={one}" for name, one in values if isinstance(one, str | int | float))
        return shorten(f"{type(self).__name__}({', '.join(plain)})", 120, placeholder=" ...")
