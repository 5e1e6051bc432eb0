# SPDX-License-Identifier: Apache-2.0
"""The charts of a report as plotly figures: plain dictionaries of numbers, labels and colour roles.

A colour is written "var(--name)" and resolved by the page (template/page.js), so that one figure serves
light, dark and paper. Every foreign name goes through `plotly_text`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from heapfit.report.numbers import count, plotly_text, ratio, size

if TYPE_CHECKING:
    from heapfit.comparison import Row
    from heapfit.fit import Fit

type_of_figure = dict[str, Any]
