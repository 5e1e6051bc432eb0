# SPDX-License-Identifier: Apache-2.0
"""Third-party allocators: built with an adapter, and measured in a process of their own.

    plugin = plugin_of(Path("mine.c"))
    row = measure(build(plugin, folder), trace, alignment=8)

The adapter's five functions are in heapfit_plugin.h; host/ is the program that they are
linked into.
"""

from heapfit.plugin.building import Built, build
from heapfit.plugin.faults import Fault
from heapfit.plugin.measuring import PluginRow, measure, measure_all
from heapfit.plugin.sources import INCLUDE, Plugin, plugin_of, plugins_of

__all__ = [
    "INCLUDE",
    "Built",
    "Fault",
    "Plugin",
    "PluginRow",
    "build",
    "measure",
    "measure_all",
    "plugin_of",
    "plugins_of",
]
