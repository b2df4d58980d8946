# SPDX-License-Identifier: Apache-2.0
"""What measures this project: benches, experiments, peers, other processors.

A checkout has it, the package for users does not. It stands on `nandwich`, which knows nothing of
it but the verbs `bench` and `papers`, and the boards of `run --target`. Its extension
`lab._native` stays in `build/PRESET/lab`.
"""

from pathlib import Path

from nandwich import paths

#: The checkout.
ROOT = Path(__file__).resolve().parent.parent

__path__.append(str(paths.build_dir() / "lab"))
