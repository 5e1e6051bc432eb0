# SPDX-License-Identifier: Apache-2.0
"""The measures of candidates, which of them no other beats, and which one to prefer."""
