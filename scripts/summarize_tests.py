#!/usr/bin/env python3
"""Counts what scripts/test.sh ran; the last line printed is "N passed, N failed, N skipped".

The folder it reads holds
  steps.tsv     stage, name, status, reason: one line for each check, and for a build that failed;
  PRESET.code   the exit code of ctest on that preset;
  PRESET.xml    its JUnit file, where a GTEST_SKIP is <skipped> with the reason in the output.
"""

import re
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import NamedTuple

STATUSES = ("passed", "failed", "skipped")


class Result(NamedTuple):
    stage: str
    name: str
    status: str
    reason: str = ""

    @property
    def suite(self) -> str:
        """`Kernel` of `Kernel.Gram` and `All/Kernel.Gram/3`; a name without a dot is its own."""
        if self.stage == "check" or "." not in self.name:
            return self.name
        return self.name.split(".")[0].split("/")[-1]


def case_reason(case: ET.Element) -> str:
    """What GTEST_SKIP was given (printed below `file:line: Skipped`), or the last line printed."""
    output = (case.findtext("system-out") or "").strip()
    if "[  SKIPPED ]" in output:
        message = re.search(r": Skipped\n(.*?)\n(?:\n|\[)", output, re.S)
        return (" ".join(message[1].split()) if message else "") or "no reason given"
    return output.rsplit("\n", maxsplit=1)[-1]


def case_result(stage: str, case: ET.Element) -> Result:
    """Skipped is only what chose to be: ctest says "notrun" of a missing program or fixture too."""
    name, status, skipped = case.get("name", "?"), case.get("status"), case.find("skipped")
    if status == "run":
        return Result(stage, name, "passed")
    message = "" if skipped is None else skipped.get("message", "")
    if status == "disabled" or message.startswith("SKIP_"):
        return Result(stage, name, "skipped", case_reason(case))
    return Result(stage, name, "failed", case_reason(case) if message else "")


def junit_results(stage: str, xml: Path) -> list[Result]:
    try:
        return [case_result(stage, case) for case in ET.parse(xml).iter("testcase")]
    except (FileNotFoundError, ET.ParseError):  # ctest was killed: preset_results tells
        return []


def preset_results(code_file: Path) -> list[Result]:
    """A stage of ctest; that nothing ran, or it failed without a failed test, is a failure."""
    stage = code_file.stem
    code = int(code_file.read_text())
    results = junit_results(stage, code_file.with_suffix(".xml"))
    statuses = {result.status for result in results}
    if not statuses & {"passed", "failed"}:
        results.append(Result(stage, "ctest", "failed", "no test ran"))
    elif code != 0 and "failed" not in statuses:
        results.append(Result(stage, "ctest", "failed", f"exit code {code} without a failed test"))
    return results


def read_results(folder: Path) -> list[Result]:
    steps = folder / "steps.tsv"
    lines = steps.read_text().splitlines() if steps.is_file() else []
    results = [Result(*line.split("\t")) for line in lines]
    for code_file in sorted(folder.glob("*.code"), key=lambda file: file.stat().st_mtime_ns):
        results += preset_results(code_file)
    return results


def counts(results: list[Result]) -> str:
    tally = Counter(result.status for result in results)
    return ", ".join(f"{tally[status]} {status}" for status in STATUSES)


def report(results: list[Result]) -> list[str]:
    lines = ["", "== what ran =="]
    for stage in dict.fromkeys(result.stage for result in results):
        in_stage = [result for result in results if result.stage == stage]
        lines.append(f"{stage}: {counts(in_stage)}")
        for suite in dict.fromkeys(result.suite for result in in_stage):
            lines.append(f"  {suite}: {counts([r for r in in_stage if r.suite == suite])}")
    for status in ("skipped", "failed"):
        for result in results:
            if result.status == status:
                reason = f": {result.reason}" if result.reason else ""
                lines.append(f"{status.upper()} {result.stage} {result.name}{reason}")
    return lines + [counts(results)]


def succeeded(results: list[Result]) -> bool:
    statuses = {result.status for result in results}
    return "passed" in statuses and "failed" not in statuses


def self_test() -> None:
    skipped_output = "[ RUN      ] A.C\na_test.cpp:9: Skipped\nno data\n\n[  SKIPPED ] A.C (0 ms)\n"
    junit = f"""<testsuite>
      <testcase name="A.B" status="run"/>
      <testcase name="All/A.P/0" status="run"/>
      <testcase name="A.C" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
        <system-out>{skipped_output}</system-out></testcase>
      <testcase name="A.Off" status="disabled"><system-out>Disabled</system-out></testcase>
      <testcase name="B.Bad" status="fail"><failure message=""/></testcase>
      <testcase name="lost" status="notrun"><skipped message="Unable to find executable"/>
        <system-out>Unable to find executable: x</system-out></testcase>
    </testsuite>"""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assert not succeeded(read_results(folder)), "nothing ran, yet it counts as success"
        (folder / "steps.tsv").write_text("check\tscripts/a.sh\tpassed\t\n")
        assert succeeded(read_results(folder))
        (folder / "dev.code").write_text("8\n")
        (folder / "dev.xml").write_text(junit)
        lines = report(read_results(folder))
        assert lines[-1] == "3 passed, 2 failed, 2 skipped", lines[-1]
        for line in (
            "check: 1 passed, 0 failed, 0 skipped",
            "dev: 2 passed, 2 failed, 2 skipped",
            "  A: 2 passed, 0 failed, 2 skipped",
            "SKIPPED dev A.C: no data",
            "SKIPPED dev A.Off: Disabled",
            "FAILED dev B.Bad",
            "FAILED dev lost: Unable to find executable: x",
        ):
            assert line in lines, f"{line!r} is not in {lines}"
        assert not succeeded(read_results(folder))
        (folder / "dev.xml").write_text('<a><testcase name="A.B" status="run"/></a>')
        assert not succeeded(read_results(folder)), "ctest failed, yet it counts as success"
        (folder / "dev.code").write_text("0\n")
        assert succeeded(read_results(folder))
        (folder / "dev.xml").write_text("<testsuite/>")
        assert not succeeded(read_results(folder)), "a preset ran no test, yet it counts as success"
        (folder / "dev.xml").write_text("<testsuite>")
        assert not succeeded(read_results(folder)), "half a JUnit file, yet it counts as success"
        (folder / "dev.xml").unlink()
        assert not succeeded(read_results(folder)), "no JUnit file, yet it counts as success"
    print("summarize_tests: self-test passed")


def main(arguments: list[str]) -> int:
    if arguments == ["--self-test"]:
        self_test()
        return 0
    results = read_results(Path(arguments[0]))
    print("\n".join(report(results)))
    return 0 if succeeded(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
