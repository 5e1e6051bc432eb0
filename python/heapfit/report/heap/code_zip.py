# SPDX-License-Identifier: Apache-2.0
"""The generated C as a zip that its page carries, for readers who have the page alone."""

from __future__ import annotations

import base64
import io
import zipfile
from pathlib import Path

LARGEST_PAGE = 600_000  # bytes: a page that would be larger has no zip
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first that a zip knows: the same folder is the same zip


def zip_folder(folder: Path) -> str:
    """The zip of all files of a folder, below the folder's name, in base64."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                entry = zipfile.ZipInfo(str(file.relative_to(folder.parent)), _EPOCH)
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return base64.b64encode(packed.getvalue()).decode("ascii")
