# SPDX-License-Identifier: Apache-2.0
"""A result as a line and as a table: for the prompt, for notebooks, for pyarrow and pandas."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Final, TypeVar

import pyarrow as pa

from heapfit.errors import HeapfitError

_SHOWN: Final = 20  # rows of a table in a notebook

Item = TypeVar("Item")


class Tabular(ABC):
    """A result whose `str` is one line and whose parts are the rows of a table.

    A dataclass of this kind is made with `repr=False`: at the prompt it prints its line, too.
    """

    __slots__ = ()

    @abstractmethod
    def __str__(self) -> str:
        """The result in one line without its end: its subject, and the figure that matters."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """The result's rows as a pyarrow table, sizes in bytes; unknown values are null."""

    def __repr__(self) -> str:
        """The text of `str`, since the records behind a result fill pages."""
        return str(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table for whatever reads Arrow: `polars.DataFrame(it)`, `duckdb.sql("from it")`."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:  # noqa: ANN401 (pandas need not be installed)
        """The result's rows as a pandas DataFrame; HeapfitError where pandas is not installed."""
        try:
            return self.to_arrow().to_pandas()
        except ModuleNotFoundError as error:
            raise HeapfitError(
                "to_pandas: pandas is not installed (pip install pandas, or use to_arrow)"
            ) from error

    def _repr_html_(self) -> str:
        """The HTML for a notebook: the line, then the first rows."""
        return html_table(str(self), self._first_rows())

    def _first_rows(self) -> pa.Table:
        """The table for a notebook; where the whole takes long, its first rows."""
        return self.to_arrow()


def arrow_table(items: Sequence[Item], columns: Mapping[str, Callable[[Item], Any]]) -> pa.Table:
    """A row for each item; the function of each column computes its value from the item.

    >>> arrow_table([4, 9], {"size": int, "name": str}).to_pylist()
    [{'size': 4, 'name': '4'}, {'size': 9, 'name': '9'}]
    """
    return pa.table({name: [value(one) for one in items] for name, value in columns.items()})


def html_table(line: str, table: pa.Table) -> str:
    """A line, and below it the first rows of a table; both are escaped."""
    rows = table.slice(0, _SHOWN).to_pylist()
    head = "".join(f"<th>{escape(name)}</th>" for name in table.column_names)
    body = "".join(
        "<tr>" + "".join(_cell(row[name]) for name in table.column_names) + "</tr>" for row in rows
    )
    more = table.num_rows - len(rows)
    rest = f"<p>{more:,} rows more: to_pandas()</p>" if more > 0 else ""
    return (
        f"<p>{escape(line)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        + rest
    )


def _cell(value: object) -> str:
    """A table cell with numbers aligned to the right.

    >>> _cell(94816), _cell(1.0333333), _cell("a<b"), _cell(None)[-10:]
    ('<td style="text-align:right">94,816</td>', '<td style="text-align:right">1.033</td>', \
'<td>a&lt;b</td>', '<td></td>')
    """
    if value is None:
        return "<td></td>"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"<td>{escape(str(value))}</td>"
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"
    return f'<td style="text-align:right">{text}</td>'
