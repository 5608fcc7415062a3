#!/usr/bin/env python3
"""Counts what scripts/test.sh ran; the last line printed is "N passed, N failed, N skipped".

The folder it reads holds
  steps.tsv         stage, name, status, reason: a line for each check, and for a build that failed;
  PRESET.TOOL.code  the exit code of ctest or pytest on that preset;
  PRESET.TOOL.xml   its JUnit file. In ctest's a GTEST_SKIP is <skipped> with the reason in the
                    output; in pytest's the reason is the message.
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
        """`Kernel` of `Kernel.Gram` and `All/Kernel.Gram/3`, `test_verbs` of
        `test_verbs.test_map[a]`; a name without a dot is its own."""
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


def ctest_result(stage: str, case: ET.Element) -> Result:
    """Skipped is only what chose to be: ctest says "notrun" of a missing program or fixture too."""
    name, status, skipped = case.get("name", "?"), case.get("status"), case.find("skipped")
    if status == "run":
        return Result(stage, name, "passed")
    message = "" if skipped is None else skipped.get("message", "")
    if status == "disabled" or message.startswith("SKIP_"):
        return Result(stage, name, "skipped", case_reason(case))
    return Result(stage, name, "failed", case_reason(case) if message else "")


def pytest_result(stage: str, case: ET.Element) -> Result:
    """Called by its module and name; an error, say in a fixture, is a failure."""
    module = case.get("classname", "").rsplit(".", maxsplit=1)[-1]
    name = ".".join(part for part in (module, case.get("name", "?")) if part)
    for tag, status in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        if (found := case.find(tag)) is not None:
            return Result(stage, name, status, found.get("message", "").partition("\n")[0])
    return Result(stage, name, "passed")


RESULT_OF = {"ctest": ctest_result, "pytest": pytest_result}


def junit_results(stage: str, tool: str, xml: Path) -> list[Result]:
    try:
        return [RESULT_OF[tool](stage, case) for case in ET.parse(xml).iter("testcase")]
    except (FileNotFoundError, ET.ParseError):  # the tool was killed: tool_results tells
        return []


def tool_results(code_file: Path) -> list[Result]:
    """Of one tool; that nothing ran, or it failed without a failed test, is a failure."""
    stage, tool = code_file.stem.split(".")
    code = int(code_file.read_text())
    results = junit_results(stage, tool, code_file.with_suffix(".xml"))
    statuses = {result.status for result in results}
    if not statuses & {"passed", "failed"}:
        results.append(Result(stage, tool, "failed", "no test ran"))
    elif code != 0 and "failed" not in statuses:
        results.append(Result(stage, tool, "failed", f"exit code {code} without a failed test"))
    return results


def read_results(folder: Path) -> list[Result]:
    steps = folder / "steps.tsv"
    lines = steps.read_text().splitlines() if steps.is_file() else []
    results = [Result(*line.split("\t")) for line in lines]
    for code_file in sorted(folder.glob("*.code"), key=lambda file: file.stat().st_mtime_ns):
        results += tool_results(code_file)
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


SKIPPED_OUTPUT = "[ RUN      ] A.C\na_test.cpp:9: Skipped\nno data\n\n[  SKIPPED ] A.C (0 ms)\n"
CTEST_JUNIT = f"""<testsuite>
  <testcase name="A.B" status="run"/>
  <testcase name="All/A.P/0" status="run"/>
  <testcase name="A.C" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
    <system-out>{SKIPPED_OUTPUT}</system-out></testcase>
  <testcase name="A.Off" status="disabled"><system-out>Disabled</system-out></testcase>
  <testcase name="B.Bad" status="fail"><failure message=""/></testcase>
  <testcase name="lost" status="notrun"><skipped message="Unable to find executable"/>
    <system-out>Unable to find executable: x</system-out></testcase>
</testsuite>"""
PYTEST_JUNIT = """<testsuites><testsuite>
  <testcase classname="tests.integration.test_a" name="test_b[1.5]" time="0.1"/>
  <testcase classname="tests.integration.test_a" name="test_c">
    <skipped type="pytest.skip" message="no scene">conftest.py:9: no scene</skipped></testcase>
  <testcase classname="tests.integration.test_a" name="test_d">
    <failure message="assert 1 == 2&#10;  more">text</failure></testcase>
  <testcase classname="tests.integration.test_e" name="test_f">
    <error message="failed on setup">text</error></testcase>
  <testcase classname="" name="tests.integration.test_g">
    <error message="collection failure">text</error></testcase>
</testsuite></testsuites>"""
REPORTED = (
    "check: 1 passed, 0 failed, 0 skipped",
    "dev: 3 passed, 5 failed, 3 skipped",
    "  A: 2 passed, 0 failed, 2 skipped",
    "  test_a: 1 passed, 1 failed, 1 skipped",
    "SKIPPED dev A.C: no data",
    "SKIPPED dev A.Off: Disabled",
    "SKIPPED dev test_a.test_c: no scene",
    "FAILED dev B.Bad",
    "FAILED dev lost: Unable to find executable: x",
    "FAILED dev test_a.test_d: assert 1 == 2",
    "FAILED dev test_e.test_f: failed on setup",
    "FAILED dev tests.integration.test_g: collection failure",
)


def test_report(folder: Path) -> None:
    for tool, code, junit in (("ctest", 8, CTEST_JUNIT), ("pytest", 1, PYTEST_JUNIT)):
        (folder / f"dev.{tool}.code").write_text(f"{code}\n")
        (folder / f"dev.{tool}.xml").write_text(junit)
    lines = report(read_results(folder))
    assert lines[-1] == "4 passed, 5 failed, 3 skipped", lines[-1]
    for line in REPORTED:
        assert line in lines, f"{line!r} is not in {lines}"
    assert not succeeded(read_results(folder))


def test_tool(folder: Path, tool: str, passed_case: str) -> None:
    """That what goes wrong with the tool itself counts as a failure. Leaves it passed."""
    code, xml = folder / f"dev.{tool}.code", folder / f"dev.{tool}.xml"
    code.write_text("1\n")
    xml.write_text(f"<a>{passed_case}</a>")
    assert not succeeded(read_results(folder)), f"{tool} failed, yet it counts as success"
    code.write_text("0\n")
    for junit, what in (("<testsuite/>", "no test"), ("<testsuite>", "half a JUnit file")):
        xml.write_text(junit)
        assert not succeeded(read_results(folder)), f"{tool}: {what}, yet it counts as success"
    xml.unlink()
    assert not succeeded(read_results(folder)), f"{tool}: no JUnit file, yet it counts as success"
    xml.write_text(f"<a>{passed_case}</a>")


def self_test() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assert not succeeded(read_results(folder)), "nothing ran, yet it counts as success"
        (folder / "steps.tsv").write_text("check\tscripts/a.sh\tpassed\t\n")
        assert succeeded(read_results(folder))
        test_tool(folder, "ctest", '<testcase name="A.B" status="run"/>')
        assert succeeded(read_results(folder))
        test_tool(folder, "pytest", '<testcase classname="test_a" name="test_b"/>')
        assert succeeded(read_results(folder))
        test_report(folder)
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
