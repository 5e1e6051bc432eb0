# SPDX-License-Identifier: Apache-2.0
"""A page rendered as one self-contained HTML file.

What a recording brings in (names, sources, notes) is hostile. Four walls keep it text: jinja2
escapes every expression, unprintable characters are written out, data lie in a JSON block that
cannot be left, and the content security policy runs no script but those written here, known by
their hashes, and opens no connection.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import jinja2

from heapfit import _engine
from heapfit.outputs.file import stage_file
from heapfit.plan.quantities import keep_units
from heapfit.results import number_text
from heapfit.results.chart import Chart

_SHARED = Path(__file__).parent / "drawing"  # the frame of all pages, their style and script
_SCRIPTS = ("axes.js", "marks.js", "charts.js", "page.js")  # each uses what stands before it
_VERBATIM_OR_TEXT = re.compile(r"(<(script|style|pre|code)\b.*?</\2>)|(?<=>)[^<]+", re.DOTALL)
_RESULTS = Path(__file__).parent
_PARTS = (_SHARED, _RESULTS / "heap_map", _RESULTS / "sections")  # of several pages


def render(
    template: Path,
    title: str,
    charts: Sequence[Chart],
    own_scripts: Mapping[Path, object] | None = None,
    **content: object,
) -> str:
    """The page as text, the same for the same content.

    `template` is a file beside the page's module. `own_scripts` run after page.js, each with the
    record that it finds by its name (map.js: "map-data"), if there is one.
    """
    own = own_scripts or {}
    texts = (script.read_text(encoding="utf-8") for script in own)
    scripts = [*(_own(name) for name in _SCRIPTS), *texts]
    return keep_units_with_figures(
        _environment(template.parent)
        .get_template(template.name)
        .render(
            title=title,
            version=_engine.version,
            figures={chart.identity: chart.figure() for chart in charts},
            records={
                f"{one.stem}-data": record for one, record in own.items() if record is not None
            },
            policy=_policy(scripts),
            scripts=scripts,
            style=_own("page.css"),
            **content,
        )
    )


def keep_units_with_figures(page: str) -> str:
    """The page with no break between a figure and its unit, but in what is copied or run.

    >>> keep_units_with_figures("<td>83 %</td><pre>a 5 B</pre>").replace("\xa0", "_")
    '<td>83_%</td><pre>a 5 B</pre>'
    """
    return _VERBATIM_OR_TEXT.sub(lambda found: found[1] or keep_units(found[0]), page)


def write_page(path: Path, text: str) -> None:
    """Writes a page; the file appears whole or not at all."""
    with stage_file(path) as staging:
        staging.write_text(text, encoding="utf-8")


def _own(name: str) -> str:
    return (_SHARED / name).read_text(encoding="utf-8")


def _policy(scripts: list[str]) -> str:
    """A content security policy that runs `scripts` alone and fetches nothing.

    Charts set styles on their elements; texts are kept through blob: addresses.
    """
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _environment(page: Path) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([page, *_PARTS]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_printable_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    for name in (
        *("count", "size", "rough_size", "ratio", "rate", "percent"),
        "sentence",
        "change",
    ):
        environment.filters[name] = getattr(number_text, name)
    return environment


def _printable_text(value: object) -> object:
    """Plain text made printable; markup, which is a subclass, and numbers as they are."""
    return number_text.printable(value) if type(value) is str else value
