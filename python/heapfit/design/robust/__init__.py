# SPDX-License-Identifier: Apache-2.0
"""Plans for several traces at once, for hold-out traces, and requests that break a plan."""
