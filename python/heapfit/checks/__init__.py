# SPDX-License-Identifier: Apache-2.0
"""Whether other recordings run on a plan, in the region that it sets; and if not, what grew."""
