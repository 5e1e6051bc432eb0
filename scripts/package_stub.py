# SPDX-License-Identifier: Apache-2.0
"""Prints python/heapfit/__init__.pyi, the names that the package offers: for `make docs`."""

from heapfit import _OFFERED

HEAD = '''\
# SPDX-License-Identifier: Apache-2.0
"""The names of `import heapfit` for type checkers, made by scripts/package_stub.py; `make docs`."""
'''

if __name__ == "__main__":
    print(HEAD)
    for module, names in _OFFERED.items():
        for name in names:
            print(f"from {module} import {name} as {name}")
    print("\n__version__: str")
