# SPDX-License-Identifier: Apache-2.0
"""Nandwich: the layers between your code and raw flash, and a twin of the device to try them on.

The package is the host side: the `nandwich` command, the binding over core and twin
(`nandwich._native`), experiments and reports. In a checkout the binding stays in
`build/PRESET/python/nandwich`; adding that folder to this package's path lets one source tree serve
the release build and, by NANDWICH_BUILD=build/asan, the sanitized one.
"""

from nandwich import paths as _paths
from nandwich._version import __version__ as __version__

if _paths.CHECKOUT is not None:
    __path__.append(str(_paths.build_dir() / "python" / "nandwich"))
