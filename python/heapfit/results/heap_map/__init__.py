# SPDX-License-Identifier: Apache-2.0
"""The heap map: where every block lies over time, in the chosen heap and in the incumbent.

replays.py replays, packed.py makes it small, map.js draws.
"""
