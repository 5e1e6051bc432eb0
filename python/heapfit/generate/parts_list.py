# SPDX-License-Identifier: Apache-2.0
"""A folder's software bill of materials (SPDX 2.3): each file with its licence and hashes.

So a firmware's own list of parts can take it in. Nothing in it depends on when it was made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from heapfit import _engine
from heapfit.generate.folder import list_files

PARTS_LIST = "heapfit.spdx.json"
_LICENCE = "Apache-2.0"
_NO_DATE = "1970-01-01T00:00:00Z"  # the form wants one, and equal inputs give equal bytes
_PACKAGE = "SPDXRef-heap"


def write_parts_list(folder: Path, prefix: str, stamp: str) -> None:
    """Lists every file that is now in `folder`; `stamp` is the design's."""
    document = parts_list(folder, f"{prefix}_heap", f"{prefix}:{stamp}")
    (folder / PARTS_LIST).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def parts_list(
    folder: Path, name: str, stamp: str, needed: Sequence[tuple[str, str, str]] = ()
) -> dict[str, object]:
    """Every file below `folder`, and the packages it needs, as an SPDX document.

    Args:
        folder: What is listed; paths are relative to it.
        name: Of the package that the files are.
        stamp: Tells this list from those of other contents.
        needed: Name, version and licence of other projects' packages that the code needs when it
            runs; the licence as an SPDX expression, or NOASSERTION.
    """
    paths = list_files(folder)
    files = [_file_entry(path, folder, number) for number, path in enumerate(paths)]
    others = [_other_package(number, *one) for number, one in enumerate(needed)]
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"urn:heapfit:{_engine.version}:{stamp}",
        "creationInfo": {"created": _NO_DATE, "creators": [f"Tool: heapfit-{_engine.version}"]},
        "packages": [_own_package(name, paths), *others],
        "files": files,
        "relationships": [
            _relation("SPDXRef-DOCUMENT", "DESCRIBES", _PACKAGE),
            *(_relation(_PACKAGE, "CONTAINS", str(file["SPDXID"])) for file in files),
            *(_relation(_PACKAGE, "DEPENDS_ON", str(other["SPDXID"])) for other in others),
        ],
    }


def _own_package(name: str, paths: list[Path]) -> dict[str, object]:
    digests = "".join(sorted(hashlib.sha1(path.read_bytes()).hexdigest() for path in paths))
    code = hashlib.sha1(digests.encode()).hexdigest()  # as SPDX 2.3, 7.9 has it
    return {
        "SPDXID": _PACKAGE,
        "name": name,
        "versionInfo": _engine.version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue": code},
        "licenseConcluded": _LICENCE,
        "licenseDeclared": _LICENCE,
        "licenseInfoFromFiles": [_LICENCE],
        "copyrightText": "NOASSERTION",
    }


def _other_package(number: int, name: str, version: str, licence: str) -> dict[str, object]:
    return {
        "SPDXID": f"SPDXRef-needed-{number}",
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": f"pkg:pypi/{name}@{version}",
            }
        ],
    }


def _file_entry(path: Path, folder: Path, number: int) -> dict[str, object]:
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
