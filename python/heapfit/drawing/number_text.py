# SPDX-License-Identifier: Apache-2.0
"""The text of figures and foreign names in a report.

Bytes are exact, with thousands separators and their unit. Names come from recordings, so they may
hold anything: `printable` writes out what cannot be printed, `figure_text` also takes the meaning
from a figure's markup.
"""

from __future__ import annotations

import html
import re

from markupsafe import Markup, escape

from heapfit.outputs.printable import printable
from heapfit.plan.quantities import NO_BREAK, format_share

NOT_FOUND = "none"  # of a region: it was searched
NOT_MEASURED = "–"


def count(value: float | None) -> str:
    """A number of things, to the nearest whole one.

    >>> count(1234567)
    '1,234,567'
    """
    return NOT_MEASURED if value is None else f"{value:,.0f}"


def size(value: int | None) -> str:
    """Bytes, exact, with separators and unit.

    >>> size(23040).replace(NO_BREAK, " ")
    '23,040 B'
    """
    return NOT_FOUND if value is None else f"{value:,}{NO_BREAK}B"


def change(value: int) -> str:
    """A difference in bytes, with its sign.

    >>> change(-48).replace(NO_BREAK, " ")
    '−48 B'
    """
    return f"{'+' if value >= 0 else '−'}{abs(value):,}{NO_BREAK}B"


def ratio(value: float | None) -> str:
    """A ratio such as R / U_max, to a thousandth.

    >>> ratio(1.0517)
    '1.052'
    """
    return NOT_MEASURED if value is None else f"{value:,.3f}"


def rate(value: float | None) -> str:
    """A figure per operation, to a hundredth.

    >>> rate(12.3456)
    '12.35'
    """
    return NOT_MEASURED if value is None else f"{value:,.2f}"


def percent(part: float | None) -> str:
    """A share of 1, to a tenth of a percent.

    >>> percent(0.425)
    '42.5 %'
    """
    return NOT_MEASURED if part is None else format_share(part)


def known_size(value: int | None) -> str:
    """Bytes as `size` has them, where they are known at all."""
    return NOT_MEASURED if value is None else size(value)


def mark_up(template: str, *values: str) -> Markup:
    """Our own markup with texts in it, which stay text.

    >>> print(mark_up("from <b>{}</b>", "a<b"))
    from <b>a&lt;b</b>
    """
    printed = (one if isinstance(one, Markup) else printable(one) for one in values)
    return Markup(template).format(*printed)


def term(word: str) -> Markup:
    """A word of the glossary, linked to its definition."""
    return mark_up('<a class="term" href="#def-{}">{}</a>', *_TERMS[word])


_TERMS = {
    word: (place or word, Markup(text))
    for word, place, text in (
        ("u-max", "", "<var>U</var><sub>max</sub>"),
        ("over", "", "over <var>U</var><sub>max</sub>"),
        ("r-min", "", "<var>R</var><sub>min</sub>"),
        ("r-safe", "", "<var>R</var><sub>safe</sub>"),
        ("p", "", "<var>P<sub>i</sub></var>(<var>t</var>)"),
        ("p-max", "", "<var>P</var><sub><var>i</var>,max</sub>"),
        ("n", "", "<var>N<sub>i</sub></var>"),
        ("accesses", "", "accesses"),
        ("accesses-each", "accesses", "accesses per op."),
        ("moved", "", "payload moved"),
        ("internal", "", "internal frag., highest"),
        ("external", "", "external frag., highest"),
        ("trained", "", "trained on this trace"),
    )
}


def sentence(text: str) -> Markup:
    """A sentence as markup: options stay unbroken, `commands` are code; markup as it is.

    >>> print(sentence("`heapfit fit A B` (--pools)"))
    <code>heapfit fit A B</code> (<span class="whole">--pools</span>)
    """
    if isinstance(text, Markup):
        return text
    coded = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(printable(text))))
    return Markup(re.sub(r"(?<![\w-])(--[a-z][a-z-]*)", r'<span class="whole">\1</span>', coded))


def figure_text(text: str) -> str:
    """The text as a chart shows it letter by letter: its labels know bold and line ends.

    >>> figure_text("<b>")
    '&lt;b&gt;'
    """
    return html.escape(printable(text), quote=False)
