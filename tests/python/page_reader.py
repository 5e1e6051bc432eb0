# SPDX-License-Identifier: Apache-2.0
"""A report read back as a browser would: elements, attributes, texts, tables, scripts."""

import json
from html.parser import HTMLParser

VOID = {"meta", "br", "img", "link", "input", "base", "hr", "wbr", "source", "embed"}


class Page(HTMLParser):
    """What a page holds, in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[tuple[str | None, str]] = []  # (type, content)
        self.styles: list[str] = []
        self.rows: list[list[str]] = []  # cells of every table row
        self.sections: list[str] = []  # of each of them the id of its section
        self.told: dict[str, str] = {}  # the text of each section by its id
        self._section = ""
        self.unclosed: list[str] = []
        self._cell = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.unclosed.append(tag)
        if tag == "section":
            self._section = dict(attrs).get("id") or ""
            self.told[self._section] = ""
        if tag == "tr":
            self.rows.append([])
            self.sections.append(self._section)
        if tag in {"td", "th"}:
            self.rows[-1].append("")
            self._cell = True
        if tag == "script":
            self.scripts.append((dict(attrs).get("type"), ""))

    def handle_endtag(self, tag):
        assert self.unclosed, f"</{tag}> closes nothing"
        assert self.unclosed.pop() == tag
        if tag == "section":
            self._section = ""
        if tag in {"td", "th"}:
            self._cell = False

    def handle_data(self, data):
        inside = self.unclosed[-1] if self.unclosed else ""
        if inside == "script":
            kind, content = self.scripts[-1]
            self.scripts[-1] = (kind, content + data)
        elif inside == "style":
            self.styles.append(data)
        else:
            self.texts.append(data)
            if self._section:
                self.told[self._section] += f" {data}"
            if self._cell:
                self.rows[-1][-1] += data

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    @property
    def structure(self) -> list[tuple[str, tuple[str, ...]]]:
        """Every element with the names of its attributes, whatever they say."""
        return [(tag, tuple(attributes)) for tag, attributes in self.elements]

    @property
    def figures(self) -> dict:
        return json.loads(next(content for kind, content in self.scripts if kind is not None))

    def attributes(self, name: str) -> list[str]:
        return [found[name] or "" for _, found in self.elements if name in found]

    def row(self, beginning: str, section: str | None = None) -> list[str]:
        """The first table row that begins so, there, its cells' white space made plain."""
        rows = (
            [" ".join(cell.split()) for cell in row]
            for row, place in zip(self.rows, self.sections, strict=True)
            if section in (None, place)
        )
        return next(row for row in rows if row[0].startswith(beginning))
