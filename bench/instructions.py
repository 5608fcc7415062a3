#!/usr/bin/env python3
"""Counts the instructions of the coder's pieces of work (bench/work.cpp) under callgrind and compares them with bench/results/instructions.json.

Counts don't depend on how busy the machine is. They do on compiler and processor; so what is compared are ratios to a reference in the same build,
ADMM's iteration in Eigen, and a piece may take a tenth more than its baseline. Exit codes: 1 where one takes more, or can't be counted, 77 where not even the reference can.

--write makes the present counts the baseline."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BASELINE = ROOT / "bench" / "results" / "instructions.json"
SLACK = 1.1
REFERENCE = "reference"


def count(program: Path, case: str) -> int:
    run = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=measured_work*", "--callgrind-out-file=/dev/null", program, case],
                         capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or found is None or int(found[1]) == 0:
        print(f"{program.name} '{case}' can't be counted: {run.stderr.strip().splitlines()[-1]}")
        sys.exit(77 if case == REFERENCE else 1)
    return int(found[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True, help="hyperatom_work of a build")
    parser.add_argument("--write", action="store_true", help="write the baseline")
    args = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("valgrind is not installed")
        return 77
    cases = subprocess.run([args.program], capture_output=True, text=True, check=True).stdout.splitlines()
    reference = count(args.program, REFERENCE)
    ratios = {case: round(count(args.program, case) / reference, 4) for case in cases if case != REFERENCE}
    if args.write:
        BASELINE.write_text(json.dumps(ratios, indent=1) + "\n")
    baseline = json.loads(BASELINE.read_text())
    worse = [case for case in ratios if ratios[case] > SLACK * baseline.get(case, 0)]
    for case, ratio in ratios.items():
        print(f"{case:16} {ratio:8.4f} of the reference, baseline {baseline.get(case, 0):8.4f}{'  MORE' if case in worse else ''}")
    if worse:
        print(f"more than {SLACK} times the instructions of the baseline; if that is meant: bench/instructions.py --program {args.program} --write")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
