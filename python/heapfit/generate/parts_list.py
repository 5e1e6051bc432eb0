# SPDX-License-Identifier: Apache-2.0
"""What a generated folder consists of, as SPDX 2.3: each file with its licence and hashes.

So a firmware's own list of parts can take it in. Nothing in it depends on when it was made.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from heapfit import _engine

PARTS_LIST = "heapfit.spdx.json"
_LICENCE = "Apache-2.0"
_NO_DATE = "1970-01-01T00:00:00Z"  # the form wants one, and equal inputs give equal bytes
_PACKAGE = "SPDXRef-heap"


def write_parts_list(folder: Path, prefix: str, stamp: str) -> None:
    """Lists every file that is in `folder` by now; `stamp` is the design's."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = [_file(path, folder, number) for number, path in enumerate(paths)]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{prefix}_heap",
        "documentNamespace": f"urn:heapfit:{_engine.version}:{prefix}:{stamp}",
        "creationInfo": {"created": _NO_DATE, "creators": [f"Tool: heapfit-{_engine.version}"]},
        "packages": [_package(prefix, paths)],
        "files": files,
        "relationships": [
            _relation("SPDXRef-DOCUMENT", "DESCRIBES", _PACKAGE),
            *(_relation(_PACKAGE, "CONTAINS", str(file["SPDXID"])) for file in files),
        ],
    }
    text = json.dumps(document, indent=2) + "\n"
    (folder / PARTS_LIST).write_text(text, encoding="utf-8")


def _package(prefix: str, paths: list[Path]) -> dict[str, object]:
    digests = "".join(sorted(hashlib.sha1(path.read_bytes()).hexdigest() for path in paths))
    code = hashlib.sha1(digests.encode()).hexdigest()  # as SPDX 2.3, 7.9 has it
    return {
        "SPDXID": _PACKAGE,
        "name": f"{prefix}_heap",
        "versionInfo": _engine.version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue": code},
        "licenseConcluded": _LICENCE,
        "licenseDeclared": _LICENCE,
        "licenseInfoFromFiles": [_LICENCE],
        "copyrightText": "NOASSERTION",
    }


def _file(path: Path, folder: Path, number: int) -> dict[str, object]:
    content = path.read_bytes()
    hashes = {"SHA1": hashlib.sha1(content), "SHA256": hashlib.sha256(content)}
    return {
        "SPDXID": f"SPDXRef-file-{number}",
        "fileName": f"./{path.relative_to(folder).as_posix()}",
        "checksums": [
            {"algorithm": name, "checksumValue": made.hexdigest()} for name, made in hashes.items()
        ],
        "licenseConcluded": _LICENCE,
        "licenseInfoInFiles": [_LICENCE],
        "copyrightText": "NOASSERTION",
    }


def _relation(element: str, kind: str, related: str) -> dict[str, str]:
    return {"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": related}
