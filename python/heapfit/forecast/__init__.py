# SPDX-License-Identifier: Apache-2.0
"""How long a heap lasts: the kind of a recording, what grows in it, what longer runs need.

A recording is cut into windows of equal length behind its start-up. What is tested and forecast are
the extremes of these windows.
"""
