# SPDX-License-Identifier: Apache-2.0
"""What pools are worth: the share they close of the gap between a heap without them and U_max.

A search can cut pools to any trace, and gains a little even where sizes are drawn at random; what
closes less is no reason to have them.
"""

from __future__ import annotations

LEAST_SHARE = 0.1


def share_of_gap(region: int, plain: int, u_max: int) -> float:
    """What `region` saves of what the region `plain` has beyond U_max.

    >>> share_of_gap(1050, 1100, 1000)
    0.5
    """
    return (plain - region) / (plain - u_max) if plain > u_max else 0.0


def are_worth_it(region: int | None, plain: int | None, u_max: int) -> bool:
    """Whether pools that need `region` are to be taken; None is a plan without a region."""
    if region is None or plain is None:
        return region is not None
    return share_of_gap(region, plain, u_max) >= LEAST_SHARE
