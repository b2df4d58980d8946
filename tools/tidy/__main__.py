# SPDX-License-Identifier: Apache-2.0
"""`python -m tidy [ROOT]`: print what breaks a house rule; exit 1 if anything does."""

import sys
from pathlib import Path

from tidy import ratchet
from tidy.check import check


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    findings = ratchet.apply(check(root), ratchet.read(root))
    for finding in findings:
        print(finding)
    files = len({finding.path for finding in findings})
    if findings:
        print(f"tidy: {len(findings)} findings in {files} files", file=sys.stderr)
    return 1 if findings else 0


sys.exit(main())
