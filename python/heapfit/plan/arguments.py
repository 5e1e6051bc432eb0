# SPDX-License-Identifier: Apache-2.0
"""Arguments of public functions, checked against their annotations before any work begins.

A value of another type is a HeapfitError that names the function, the argument, the value and what
to give. Where a path may be given, text and every PathLike may; where a tuple may, a list.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache, wraps
from numbers import Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from heapfit.errors import HeapfitError, did_you_mean
from heapfit.plan.quantities import hint_number

_Function = TypeVar("_Function", bound=Callable[..., object])
_Convert = Callable[[Any, Any], object]

_MOST_SHOWN = 60  # characters of a value
_WANTED = {
    Path: "a path",
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    NoneType: "None",
}


class _UnfitError(Exception):
    """A value, or a part of it, that its annotation does not take."""

    def __init__(self, value: object, hint: object, part: str = "") -> None:
        super().__init__()
        self.value, self.hint, self.part = value, hint, part

    def __str__(self) -> str:
        *others, last = _list_wanted(self.hint)
        wanted = " or ".join(filter(None, [", ".join(others), last]))
        number = hint_number(self.value) if "number" in wanted else ""
        return f"{self.part}={_show(self.value)}: give {wanted}{number}"

    def within(self, part: str) -> _UnfitError:
        """The same of a value around this one."""
        return _UnfitError(self.value, self.hint, part + self.part)


def check_arguments(function: _Function) -> _Function:
    """The function with its arguments checked: HeapfitError if one has a type it does not take."""

    @wraps(function)
    def call(*given: object, **named: object) -> object:
        try:
            bound = _read_signature(function).bind(*given, **named)
        except TypeError:
            return function(*given, **named)  # Python says which argument is missing
        try:
            _convert_arguments(bound, _read_hints(function))
        except _UnfitError as error:
            raise HeapfitError(f"{function.__name__}: {error}") from None
        return function(*bound.args, **bound.kwargs)

    return cast(_Function, call)


def _convert_arguments(bound: inspect.BoundArguments, hints: Mapping[str, Any]) -> None:
    """Replaces each argument by what its annotation takes; choices are annotated by name."""
    for name, value in bound.arguments.items():
        if bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            choices = get_type_hints(get_args(hints[name])[0])
            bound.arguments[name] = _convert_choices(value, choices)
        elif name in hints:
            bound.arguments[name] = _convert_part(name, value, hints[name])


@cache
def _read_signature(function: Callable[..., object]) -> inspect.Signature:
    return inspect.signature(function)


@cache
def _read_hints(of: Callable[..., object]) -> dict[str, Any]:
    return get_type_hints(of)


def _convert_choices(given: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, object]:
    for name in given.keys() - known.keys():
        raise HeapfitError(f"{name}: no such option ({did_you_mean(name, known)})")
    return {name: _convert_part(name, value, known[name]) for name, value in given.items()}


def _convert_part(part: str, value: object, hint: object) -> object:
    try:
        return _convert(value, hint)
    except _UnfitError as error:
        raise error.within(part) from None


def _convert(value: Any, hint: Any) -> object:  # noqa: ANN401 (whatever a caller passes)
    """The value as its annotation has it; _UnfitError if that takes no such value."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _convert_to_one_of(value, hint)
    if origin in _CONVERSIONS:
        return _CONVERSIONS[origin](value, hint)
    # Of a Literal and of what an iterable has, the function itself says more.
    if hint is Any or not isinstance(hint, type):
        return value
    if hint in _CONVERSIONS:
        return _CONVERSIONS[hint](value, hint)
    if issubclass(hint, Enum) and value in [one.value for one in hint]:
        return hint(value)
    _require(isinstance(value, hint), value, hint)
    return _convert_fields(value) if is_dataclass(hint) else value


def _require(is_fit: bool, value: object, hint: object) -> None:
    if not is_fit:
        raise _UnfitError(value, hint)


def _convert_to_one_of(value: object, hint: object) -> object:
    """The value as the first member takes it; the error is of the member that came furthest."""
    furthest = _UnfitError(value, hint)
    for member in get_args(hint):
        try:
            return _convert(value, member)
        except _UnfitError as error:
            furthest = error if error.part else furthest
    raise furthest


def _convert_path(value: object, hint: object) -> object:
    if isinstance(value, Path):
        return value
    _require(isinstance(value, str | os.PathLike), value, hint)
    text = os.fspath(cast(str, value))
    _require(isinstance(text, str), value, hint)
    return Path(text)


def _convert_number(value: object, hint: object) -> object:
    _require(isinstance(value, Real) if hint is float else hasattr(value, "__index__"), value, hint)
    return value


def _convert_each(value: Any, hint: Any) -> object:  # noqa: ANN401
    is_several = isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)
    _require(is_several, value, hint)
    kinds = get_args(hint)
    found = [_convert_part(f"[{i}]", one, kinds[0]) for i, one in enumerate(value)]
    return tuple(found) if get_origin(hint) is tuple else found


def _convert_tuple(value: Any, hint: Any) -> object:  # noqa: ANN401
    is_of_one_kind = get_args(hint)[-1:] == (Ellipsis,)
    if is_of_one_kind:
        return _convert_each(value, hint)
    _require(isinstance(value, tuple), value, hint)
    return value


def _convert_iterable(value: object, hint: object) -> object:
    _require(isinstance(value, Iterable), value, hint)
    return value


def _convert_callable(value: object, hint: object) -> object:
    _require(callable(value), value, hint)
    return value


def _convert_fields(value: Any) -> object:  # noqa: ANN401
    """A record with its fields as their annotations have them."""
    hints = get_type_hints(type(value))
    changed: dict[str, object] = {}
    for field in fields(value):
        old = getattr(value, field.name)
        new = _convert_part(f".{field.name}", old, hints[field.name])
        changed |= {} if new is old or new == old else {field.name: new}
    return replace(value, **changed) if changed else value


_CONVERSIONS: dict[object, _Convert] = {
    Path: _convert_path,
    int: _convert_number,
    float: _convert_number,
    tuple: _convert_tuple,
    Sequence: _convert_each,
    list: _convert_each,
    Iterable: _convert_iterable,
    Callable: _convert_callable,
}


def _show(value: object) -> str:
    """A value in one short line, also a table."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def _list_wanted(hint: Any) -> Iterator[str]:  # noqa: ANN401
    """What may be given, each once: text for a path and a list of what is listed are one."""
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for member in members:
        if member is str and Path in members:
            continue
        origin = get_origin(member)
        if origin is Literal:
            yield from map(repr, get_args(member))
        elif origin is Callable:
            yield "a function"
        elif origin is not None:
            yield "a list"
        elif isinstance(member, type):
            yield _WANTED.get(member, member.__name__)
