# SPDX-License-Identifier: Apache-2.0
"""The page: everything it shows gathered from a Fit, rendered as one self-contained HTML file.

What a recording brings in (names, sources, notes) is hostile. Four walls keep it text: jinja2
escapes every expression, unprintable characters are written out, data lie in a JSON block that
cannot be left, and the content security policy runs no script but the two written here, known by
their hashes, and opens no connection.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from heapfit.report import numbers

if TYPE_CHECKING:
    import jinja2

    from heapfit.fitted import Fit

_TEMPLATE = Path(__file__).parent / "template"


def write_report(path: Path, fit: Fit) -> None:
    """Writes the report of `fit` to `path`; the file appears whole or not at all."""
    from heapfit.aside import file_aside

    text = render(fit)
    with file_aside(path) as aside:
        aside.write_text(text, encoding="utf-8")


def render(fit: Fit) -> str:
    """The page as text, the same for the same fit."""
    from heapfit.report.content import gather

    content = gather(fit)
    scripts = _scripts()
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            content=content,
            fit=fit,
            figures={chart.identity: chart.figure() for chart in content.charts},
            policy=_policy(scripts),
            scripts=scripts,
            style=_own("page.css"),
        )
    )


def _scripts() -> list[str]:
    """Plotly, then the page's own."""
    from plotly.offline import get_plotlyjs

    return [get_plotlyjs(), _own("page.js")]


def _own(name: str) -> str:
    return (_TEMPLATE / name).read_text(encoding="utf-8")


def _policy(scripts: list[str]) -> str:
    """A content security policy that runs `scripts` alone and fetches nothing.

    Plotly sets styles on its elements and saves pictures through data: and blob: addresses.
    """
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_printable_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    for name in ("count", "size", "rough_size", "ratio", "rate", "percent"):
        environment.filters[name] = getattr(numbers, name)
    return environment


def _printable_text(value: object) -> object:
    """Plain text made printable; markup, which is a subclass, and numbers as they are."""
    return numbers.printable(value) if type(value) is str else value
