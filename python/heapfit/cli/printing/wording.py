# SPDX-License-Identifier: Apache-2.0
"""Help and usage errors in the words of their readers, not in those of Python's types."""

from __future__ import annotations

import re
from typing import Any

_LARGEST_PRINTED = 2**32  # a limit above is only there for the machine
_TYPES = {"Path": "PATH", "path": "PATH", "str": "TEXT", "int": "NUMBER", "float": "NUMBER"}
_MESSAGES = {
    "Input should be greater than or equal to": "must be at least",
    "Input should be less than or equal to": "must be at most",
    "Input should be a valid integer": "must be a whole number",
    "Input should be a valid number": "must be a number",
    ", unable to parse string as an integer": "",
    ", unable to parse string as a number": "",
}
_KIND = re.compile(r"<(?:list\[)?([^\]>]*?)(?: range)?\]?>")


def reword(command: Any) -> None:
    """Renames what the help of a command calls its parameters; what they do stays."""
    for param in command.params:
        if param.param_type_name == "argument":
            _reword_argument(param)
        else:
            param.display_type_rich = lambda ctx, param=param: _describe_kind(param, ctx)
            param.help = f"{param.help} Repeatable." if param.multiple else param.help
        param._get_number_range_help_str = lambda param=param: _range(param.min, param.max)


def reword_message(message: str) -> str:
    """A usage error without the words of the parser.

    >>> reword_message("Input should be greater than or equal to 1")
    'must be at least 1'
    """
    for its, ours in _MESSAGES.items():
        message = message.replace(its, ours)
    return message


def _reword_argument(param: Any) -> None:
    """Names an argument as it is typed in usage: FILE, [FILE], FILE...

    A name that has its own brackets is left alone.
    """
    many = "..." if param.nargs != 1 else ""
    param.metavar = param.metavar or (param.name.removesuffix("s") if many else param.name).upper()
    usage = param.metavar if param.metavar.endswith("...") else f"{param.metavar}{many}"
    is_marked = param.required or usage.startswith("[")
    param._usage_display_name = lambda: usage if is_marked else f"[{usage}]"
    param._rich_display_name = lambda: usage
    param.display_type_rich = lambda ctx: ""  # noqa: ARG005  (called by this name)
    missing = param.get_missing_message
    param.get_missing_message = lambda ctx: " ".join((missing(ctx) or "").split())  # in one line


def _describe_kind(param: Any, ctx: Any) -> str | None:
    """The choices or the kind of value that an option takes; None for a switch."""
    if param.metavar is not None or param.is_flag:
        return None if param.metavar is None else str(param.metavar)
    match = _KIND.fullmatch(param.display_type(ctx))
    return _TYPES.get(match[1], match[1]) if match else None


def _range(least: float | None, most: float | None) -> str | None:
    """The range of numbers that are taken, as text.

    >>> _range(1, 1024), _range(0, 2**63 - 1), _range(None, 5), _range(None, None)
    ('1 to 1,024', 'at least 0', 'at most 5', None)
    """
    if most is None or most > _LARGEST_PRINTED:
        return None if least is None else f"at least {least:,}"
    return f"at most {most:,}" if least is None else f"{least:,} to {most:,}"
