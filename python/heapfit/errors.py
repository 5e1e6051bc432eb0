# SPDX-License-Identifier: Apache-2.0
"""The one exception family: raised where the bad thing entered, told in one line."""


class HeapfitError(Exception):
    """Bad input or a request that cannot be met; the message says what, where and what to do."""
