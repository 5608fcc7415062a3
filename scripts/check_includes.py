#!/usr/bin/env python3
"""Checks that includes point one way through the folders, as ARCHITECTURE.md draws them.

Rules, by the name that a violation carries:
  direction    base <- {scene, kernel, coding} <- learn <- predict <- baselines <- eval <- report
               <- {apps, python}; io needs scene and base, and only apps and python include io.
               tests, bench and examples may include anything and are included by nothing else.
  folder       a folder of hyperatom/ that this script does not know.
  third-party  TBB, the file formats and LIBSVM each have one place that may include them.
  header       no header includes those, not even in their place.
  root         a quoted include is written from the root: "hyperatom/...".
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

from checking import Violation, expect, repo_files, run

LEAVES = {"base", "scene", "kernel", "coding"}
ALLOWED: dict[str, set[str]] = {
    "base": {"base"},
    "scene": {"base", "scene"},
    "kernel": {"base", "kernel"},
    "coding": {"base", "coding"},
    "io": {"base", "scene", "io"},
    "learn": LEAVES | {"learn"},
    "predict": LEAVES | {"learn", "predict"},
    "baselines": LEAVES | {"learn", "predict", "baselines"},
    "eval": LEAVES | {"learn", "predict", "baselines", "eval"},
    "report": LEAVES | {"learn", "predict", "baselines", "eval", "report"},
}
LIBRARY = set(ALLOWED)
UMBRELLA = "hyperatom"  # headers directly in hyperatom/, such as one that includes all of it
ALLOWED[UMBRELLA] = LIBRARY | {UMBRELLA}
ALLOWED["apps"] = LIBRARY | {UMBRELLA, "apps"}
ALLOWED["python"] = LIBRARY | {UMBRELLA, "python"}
TOP_FOLDERS = {"hyperatom", "apps", "python", "tests", "bench", "examples"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = (".hpp", ".h", ".cpp")


class ThirdParty(NamedTuple):
    name: str
    include: re.Pattern[str]
    place: re.Pattern[str]
    where: str


THIRD_PARTY = (
    ThirdParty("TBB", re.compile(r"^(oneapi/)?tbb[/.]"),
               re.compile(r"^hyperatom/base/parallel\.[hc]pp$"), "hyperatom/base/parallel.cpp"),
    ThirdParty("file-format", re.compile(r"(^|/)(gdal|ogr|cpl_|matio|hdf5|H5)"),
               re.compile(r"^(hyperatom/io|tests)/"), "hyperatom/io and tests"),
    ThirdParty("LIBSVM", re.compile(r"(^|/)svm\.h$|^libsvm"),
               re.compile(r"^hyperatom/baselines/|^(tests/unit/baselines_test|bench/scene)\.cpp$"),
               "hyperatom/baselines"),
)


def layer(path: str) -> str:
    """The folder that decides what a file may include: `kernel` of hyperatom/kernel/x.hpp."""
    parts = path.split("/")
    if parts[0] != "hyperatom":
        return parts[0]
    return parts[1] if len(parts) > 2 else UMBRELLA


def check_include(file: str, quoted: bool, path: str) -> list[tuple[str, str]]:
    """The (rule, what) that including `path` in `file` violates."""
    if path.split("/")[0] in TOP_FOLDERS:
        source, target = layer(file), layer(path)
        if path.startswith("hyperatom/") and target not in ALLOWED:
            return [("folder", f'"{path}" is in no known folder of hyperatom/')]
        if target not in ALLOWED.get(source, {target}):
            return [("direction", f'{source} must not include {target} ("{path}")')]
        return []
    found = []
    if quoted:
        found.append(("root", f'"{path}" is not written from the repository root'))
    for library in THIRD_PARTY:
        if not library.include.search(path):
            continue
        if not library.place.search(file):
            found.append(("third-party", f"{library.name} header {path} outside {library.where}"))
        elif not file.endswith(".cpp"):
            found.append(("header", f"{library.name} header {path} in a header of ours"))
    return found


def check(root: Path) -> list[Violation]:
    violations = []
    for file in repo_files(root):
        if not file.endswith(SOURCES) or file.split("/")[0] not in TOP_FOLDERS:
            continue
        if file.startswith("hyperatom/") and layer(file) not in ALLOWED:
            violations.append(Violation(file, 1, "folder", "file in no known folder of hyperatom/"))
            continue
        text = (root / file).read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if include := INCLUDE.match(line):
                for rule, what in check_include(file, include[1] == '"', include[2]):
                    violations.append(Violation(file, number, rule, what))
    return violations


UNKNOWN = "hyperatom/misc/a.cpp"  # reported as a file, not for an include
# File, its include, the rule that this violates.
BAD = [
    ("hyperatom/base/a.hpp", '"hyperatom/scene/x.hpp"', "direction"),
    ("hyperatom/scene/a.hpp", '"hyperatom/kernel/x.hpp"', "direction"),
    ("hyperatom/scene/b.hpp", "<hyperatom/coding/x.hpp>", "direction"),
    ("hyperatom/scene/c.cpp", '"hyperatom/io/x.hpp"', "direction"),
    ("hyperatom/kernel/a.cpp", '"hyperatom/coding/x.hpp"', "direction"),
    ("hyperatom/kernel/b.cpp", '"hyperatom/scene/x.hpp"', "direction"),
    ("hyperatom/coding/a.cpp", '"hyperatom/kernel/x.hpp"', "direction"),
    ("hyperatom/coding/b.cpp", '"hyperatom/scene/x.hpp"', "direction"),
    ("hyperatom/io/a.cpp", '"hyperatom/learn/x.hpp"', "direction"),
    ("hyperatom/io/b.cpp", '"hyperatom/kernel/x.hpp"', "direction"),
    ("hyperatom/learn/a.cpp", '"hyperatom/predict/x.hpp"', "direction"),
    ("hyperatom/learn/b.cpp", '"hyperatom/io/x.hpp"', "direction"),
    ("hyperatom/predict/a.cpp", '"hyperatom/baselines/x.hpp"', "direction"),
    ("hyperatom/baselines/a.cpp", '"hyperatom/eval/x.hpp"', "direction"),
    ("hyperatom/eval/a.cpp", '"hyperatom/report/x.hpp"', "direction"),
    ("hyperatom/report/a.cpp", '"apps/hyperatom/x.hpp"', "direction"),
    ("hyperatom/report/b.cpp", '"hyperatom/io/x.hpp"', "direction"),
    ("hyperatom/report/c.cpp", '"tests/x.hpp"', "direction"),
    ("hyperatom/eval/b.cpp", '"hyperatom/all.hpp"', "direction"),
    ("apps/hyperatom/a.cpp", '"python/x.hpp"', "direction"),
    ("python/a.cpp", '"apps/hyperatom/x.hpp"', "direction"),
    ("apps/hyperatom/b.cpp", '"bench/x.hpp"', "direction"),
    ("apps/hyperatom/c.cpp", '"hyperatom/misc/x.hpp"', "folder"),
    (UNKNOWN, "<vector>", "folder"),
    ("hyperatom/learn/c.cpp", "<tbb/parallel_for.h>", "third-party"),
    ("hyperatom/base/b.cpp", "<oneapi/tbb/task_arena.h>", "third-party"),
    ("tests/unit/a_test.cpp", "<tbb/tbb.h>", "third-party"),
    ("hyperatom/scene/d.cpp", "<gdal_priv.h>", "third-party"),
    ("apps/hyperatom/d.cpp", "<gdal/ogrsf_frmts.h>", "third-party"),
    ("hyperatom/report/d.cpp", "<cpl_conv.h>", "third-party"),
    ("hyperatom/eval/c.cpp", "<matio.h>", "third-party"),
    ("hyperatom/learn/d.cpp", "<hdf5/serial/hdf5.h>", "third-party"),
    ("hyperatom/eval/d.cpp", "<libsvm/svm.h>", "third-party"),
    ("python/b.cpp", "<svm.h>", "third-party"),
    ("hyperatom/base/parallel.hpp", "<oneapi/tbb/parallel_for.h>", "header"),
    ("hyperatom/io/c.hpp", "<gdal.h>", "header"),
    ("hyperatom/io/d.hpp", "<matio.h>", "header"),
    ("hyperatom/baselines/b.hpp", "<libsvm/svm.h>", "header"),
    ("hyperatom/kernel/c.cpp", '"kernel.hpp"', "root"),
    ("hyperatom/kernel/d.cpp", '"../base/types.hpp"', "root"),
    ("tests/unit/b_test.cpp", '"helpers.hpp"', "root"),
]
GOOD = [
    ("hyperatom/base/parallel.cpp", "<tbb/parallel_for.h>"),
    ("hyperatom/base/parallel.hpp", "<functional>"),
    ("hyperatom/base/a.cpp", '"hyperatom/base/a.hpp"'),
    ("hyperatom/kernel/a.cpp", "<Eigen/Core>"),
    ("hyperatom/kernel/b.cpp", '"hyperatom/base/types.hpp"'),
    ("hyperatom/io/gdal_reader.cpp", "<gdal_priv.h>"),
    ("hyperatom/io/mat.cpp", "<hdf5.h>"),
    ("tests/unit/c_test.cpp", "<hdf5.h>"),
    ("hyperatom/io/a.cpp", '"hyperatom/scene/scene.hpp"'),
    ("hyperatom/learn/a.cpp", '"hyperatom/coding/coder.hpp"'),
    ("hyperatom/learn/b.cpp", '// #include "hyperatom/report/x.hpp"'),
    ("hyperatom/baselines/svm.cpp", "<libsvm/svm.h>"),
    ("bench/scene.cpp", "<libsvm/svm.h>"),
    ("hyperatom/baselines/svm.hpp", '"hyperatom/predict/classifier.hpp"'),
    ("hyperatom/report/a.cpp", '"hyperatom/kernel/kernel.hpp"'),
    ("hyperatom/all.hpp", '"hyperatom/report/report.hpp"'),
    ("apps/hyperatom/main.cpp", '"apps/hyperatom/verbs.hpp"'),
    ("apps/hyperatom/info.cpp", '"hyperatom/io/gdal_reader.hpp"'),
    ("python/module.cpp", '"hyperatom/io/gdal_reader.hpp"'),
    ("tests/unit/a_test.cpp", '"tests/support/finite_differences.hpp"'),
    ("tests/unit/b_test.cpp", '"hyperatom/io/gdal_reader.hpp"'),
    ("viewer/node/x.hpp", '"anything.h"'),
]


def self_test() -> str:
    def tree(includes: list[tuple[str, str]]) -> dict[str, str]:
        return {file: f"#pragma once\n{line}\n" for file, line in includes}

    def directive(include: str) -> str:
        return include if include.startswith("//") else f"#  include {include}"

    bad = tree([(file, directive(include)) for file, include, _ in BAD])
    good = tree([(file, directive(include)) for file, include in GOOD])
    expect(check, good, set())
    expect(check, bad, {(file, 1 if file == UNKNOWN else 2, rule) for file, _, rule in BAD})
    expect(check, {}, set())
    rules = ", ".join(sorted({rule for _, _, rule in BAD}))
    return f"{len(bad)} violations of {rules} found, {len(good)} clean files passed"


if __name__ == "__main__":
    sys.exit(run(check, self_test))
