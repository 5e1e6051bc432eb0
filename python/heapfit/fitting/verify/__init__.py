# SPDX-License-Identifier: Apache-2.0
"""A fitted heap on the firmware it is for: run, recorded, fed back, until fresh runs pass."""
