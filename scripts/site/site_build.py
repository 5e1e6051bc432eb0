# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation as a site that opens without a network: `make site`.

  python scripts/site/site_build.py FOLDER

    pages of the repository --copied, links mapped--> FOLDER/source --Sphinx--> FOLDER/html
    code: commands, names, headers --written as pages--^

FOLDER/html/index.html is the first page. A warning ends it with 1: a link that leads nowhere, a
page that no list leads to.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from command_pages import command_pages
from header_pages import header_pages
from name_pages import name_pages
from setting_pages import setting_pages
from site_pages import ROOT, copied_pages, first_pages

HERE = Path(__file__).parent
PICTURES = "docs/pictures"


def write_source(folder: Path) -> None:
    """Puts all pages of the site into an empty folder, as Sphinx reads them."""
    made = {**command_pages(), **name_pages(), **setting_pages(), **header_pages()}
    copied = copied_pages()
    for name, text in {**copied, **made, **first_pages(copied, list(made))}.items():
        page = folder / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    shutil.copyfile(HERE / "conf.py", folder / "conf.py")
    shutil.copytree(HERE / "static", folder / "static")
    for picture in sorted((ROOT / PICTURES).glob("*")):
        (folder / PICTURES).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, folder / PICTURES / picture.name)


def build(folder: Path, builder: str = "html") -> int:
    """Makes FOLDER/source and FOLDER/html anew by a builder of Sphinx, whose status it returns."""
    source, html = folder / "source", folder / "html"
    for old in (source, html):
        shutil.rmtree(old, ignore_errors=True)
    source.mkdir(parents=True)
    write_source(source)
    strict = ["--quiet", "--fail-on-warning", "--keep-going", "--fresh-env"]
    places = ["--builder", builder, "--doctree-dir", folder / "doctrees", source, html]
    words = [sys.executable, "-m", "sphinx", *strict, *places]
    return subprocess.run(words, check=False).returncode


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1])))
