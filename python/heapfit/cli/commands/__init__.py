# SPDX-License-Identifier: Apache-2.0
"""What each command takes and says of itself: a class each, made without the libraries it runs."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Command:
    """What every command takes."""

    as_json: bool = field(default=False, kw_only=True)
