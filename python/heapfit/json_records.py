# SPDX-License-Identifier: Apache-2.0
"""Records out of the JSON that they were stored as, whoever stored or changed it since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import EnumType
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

DAMAGED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


def restore_record(kind: Any, value: Any) -> Any:  # noqa: ANN401 (a type and its value)
    """A value of a type from its JSON, of which more may be there; one of DAMAGED if it is none.

    >>> restore_record(tuple[int, ...], [1, 2]), restore_record(int | None, None)
    ((1, 2), None)
    """
    kinds = [one for one in get_args(kind) if one is not NoneType]
    if get_origin(kind) in (tuple, list):  # all of one type
        return get_origin(kind)(restore_record(kinds[0], one) for one in value)
    if get_origin(kind) is Mapping:
        return {kinds[0](key): restore_record(kinds[1], one) for key, one in value.items()}
    names = (
        [one.name for one in fields(kind)] if is_dataclass(kind) else getattr(kind, "_fields", ())
    )
    if names:
        hints = get_type_hints(kind)
        given = value if is_dataclass(kind) else dict(zip(names, value, strict=True))
        return kind(**{name: restore_record(hints[name], given[name]) for name in names})
    if len(kinds) == 1:
        is_none = value is None and NoneType in get_args(kind)
        return None if is_none else restore_record(kinds[0], value)
    if isinstance(kind, EnumType):
        return kind(value)
    if not isinstance(value, get_args(kind) or ((int, float) if kind is float else kind)):
        raise TypeError(value)
    return value
