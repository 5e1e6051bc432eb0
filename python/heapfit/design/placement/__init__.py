# SPDX-License-Identifier: Apache-2.0
"""What `tailored` learns: which end serves which requests, and what is stacked before it."""
