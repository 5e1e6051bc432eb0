#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints tags.h: the tag that a plan has for each token. Its sites are tokens + 1."""

import sys
from pathlib import Path

from heapfit.plan.plan_file import load_plan

sites = load_plan(Path(sys.argv[1])).plan.sites
tags = [sites.get(site, 0) for site in range(1, max(sites, default=0) + 1)] or [0]
print("#define TAGS_OF_TOKENS " + ", ".join(map(str, tags)))
