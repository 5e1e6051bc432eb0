# SPDX-License-Identifier: Apache-2.0
"""`--help` with the options that people need, and `--help-all` with all of them, by groups.

An option whose declaration names a help panel is one of that group, and `--help-all` alone has it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand

Row = tuple[str, str]


class HelpCommand(TyperCommand):
    """A command whose `--help` hides the options of groups."""

    shows_all = False

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes arguments, then options; with `--help-all` those of groups, too."""
        params = self.get_params(ctx)
        _write(formatter, "Arguments", _list_records(ctx, params, "argument"))
        shown = [param for param in params if not find_group(param)]
        _write(formatter, "Options", _list_records(ctx, shown, "option"))
        if self.shows_all:
            for group in dict.fromkeys(filter(None, map(find_group, params))):
                grouped = [param for param in params if find_group(param) == group]
                _write(formatter, group, _list_records(ctx, grouped, "option"))

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Writes the examples, then how to see the hidden options."""
        super().format_epilog(ctx, formatter)
        count = sum(1 for param in self.get_params(ctx) if find_group(param))
        if count and not self.shows_all:
            formatter.write_paragraph()
            formatter.write_text(f"--help-all shows {count} more option{'s' * (count > 1)}.")


def find_group(param: Any) -> str:
    """The name of the group that an option is in; empty if `--help` shows it.

    >>> from heapfit.cli.main import CommandGroup
    >>> options = {param.name: param for param in CommandGroup().get_command(None, "check").params}
    >>> find_group(options["workers"]), find_group(options["plan"])
    ('Workers', '')
    """
    return str(getattr(param, "rich_help_panel", None) or "")


def _list_records(ctx: Any, params: Iterable[Any], kind: str) -> list[Row]:
    records = (param.get_help_record(ctx) for param in params if param.param_type_name == kind)
    return [record for record in records if record is not None]


def _write(formatter: Any, title: str, rows: list[Row]) -> None:
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows)
