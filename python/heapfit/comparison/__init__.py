# SPDX-License-Identifier: Apache-2.0
"""Plans measured side by side: candidates, trials, the ranked rows and what they come to."""
