# SPDX-License-Identifier: Apache-2.0
"""Plans for several traces at once, for traces not seen, and what breaks a plan."""
