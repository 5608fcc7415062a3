#!/usr/bin/env python3
"""Checks that the documentation points at things that exist.

Rules, by the name that a violation carries:
  link     a relative link in README, ARCHITECTURE, CONTRIBUTING or docs/**/*.md leads to a file.
  path     so does a path in backticks there, if it starts with a folder of the repository. Braces
           and * are expanded; words with < > $ or an ellipsis are placeholders, not looked up.
  machine  no text file names an absolute path of somebody's machine.
"""

import fnmatch
import posixpath
import re
import sys
from pathlib import Path
from typing import Iterator
from urllib.parse import unquote

from checking import Violation, expect, repo_files, run

PAGES = re.compile(r"^(README|ARCHITECTURE|CONTRIBUTING)\.md$|^docs/.*\.md$")
FOLDERS = tuple("hyperatom/ apps/ python/ scripts/ tests/ bench/ docs/ examples/ cmake/ .ci/".split())

FENCE = re.compile(r"^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1[`~]*\s*?$|\Z)", re.M | re.S)
CODE = re.compile(r"(?<!`)`((?:[^`\n]|\n(?!\s*\n))+)`(?!`)")
LINK = re.compile(r"(?:\]\(|^ {0,3}\[[^\]]+\]:)\s*(?:<([^>\n]+)>|([^<)\s]+))", re.M)
IMAGE = re.compile(r"<(?:img|a)\b[^>]*?\b(?:src|href)=[\"']([^\"']+)[\"']")
ELSEWHERE = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*:|//|#)")
MACHINE = re.compile(r"(?<![\w.~-])/(?:work|home|root)/")


def blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def expand_braces(path: str) -> list[str]:
    """`a.{hpp,cpp}` stands for a.hpp and a.cpp."""
    group = re.search(r"\{([^{}]*)\}", path)
    if not group:
        return [path]
    return [whole for part in group[1].split(",")
            for whole in expand_braces(path[:group.start()] + part.strip() + path[group.end():])]


def paths_in_code(code: str) -> Iterator[str]:
    for word in re.sub(r",\s+(?=[^{}]*\})", ",", code).split():
        path = re.sub(r"(:\d+)+$|#.*$", "", word.removeprefix("./").strip("\"'();,").rstrip(".:"))
        if path.startswith(FOLDERS) and not re.search(r"[<>$…]|\.\.\.", path):
            yield from expand_braces(path)


def check_page(file: str, text: str, known: set[str]) -> Iterator[Violation]:
    prose = FENCE.sub(blank, text)
    for code in CODE.finditer(prose):
        for path in paths_in_code(code[1]):
            if not fnmatch.filter(known, path.rstrip("/")):
                yield Violation(file, prose.count("\n", 0, code.start()) + 1, "path", f"no {path}")
    prose = CODE.sub(blank, prose)
    for link in [*LINK.finditer(prose), *IMAGE.finditer(prose)]:
        target = next(group for group in link.groups() if group)
        if ELSEWHERE.match(target):
            continue
        path = unquote(re.split("[#?]", target)[0])
        folder = "" if path.startswith("/") else posixpath.dirname(file)
        if posixpath.normpath(posixpath.join(folder, path.lstrip("/"))) not in known:
            yield Violation(file, prose.count("\n", 0, link.start()) + 1, "link", f"no {target}")


def check(root: Path) -> list[Violation]:
    files = repo_files(root)
    known = {"."} | set(files)
    for file in files:
        known.update(parent.as_posix() for parent in Path(file).parents)
    violations = []
    for file in files:
        content = (root / file).read_bytes()
        if b"\0" in content:
            continue
        text = content.decode("utf-8", errors="replace")
        for number, line in enumerate(text.split("\n"), start=1):
            if found := MACHINE.search(line):
                violations.append(Violation(file, number, "machine", f"absolute path {found[0]}"))
        if PAGES.search(file):
            violations += check_page(file, text, known)
    return violations


# In two pieces: this file is checked as well.
HOME, WORK, ROOT = "/" + "home/", "/" + "work/", "/" + "root/"
CLEAN = {
    "README.md": """[docs](docs/a.md), [part](docs/a.md#part "title"), [below](#below), [here](.)
![map](<docs/a map.png>) [map](docs/a%20map.png) <img src="docs/a%20map.png"> [root](/docs/a.md)
[site](https://example.org/x) [`hyperatom/base/`](hyperatom/base/) [mail](mailto:a@example.org)
`hyperatom/base/types.hpp`, `hyperatom/base/`, `hyperatom/base/types.{hpp,cpp}`, `scripts/*.sh`,
`bash scripts/x.sh --flag`, `hyperatom/base/types.hpp:12`, `tests/<name>_test.cpp`, `build/bin/x`,
`[not a link](nowhere.md)`, https://example.org""" + HOME + """x
```
[not a link](nowhere.md) `hyperatom/nowhere.hpp`
```
[ref]: docs/a.md
""",
    "docs/a.md": "[up](../README.md) [beside](b/c.md) `docs/b`\n",
    "docs/b/c.md": "[up](../a.md)\n",
    "CHANGELOG.md": "Removed `hyperatom/old.hpp`.\n",
    "docs/a map.png": "\0" + HOME,
    "build/x.html": HOME,
    "hyperatom/base/types.hpp": "",
    "hyperatom/base/types.cpp": "",
    "scripts/x.sh": "",
}
# File, a line appended to it, the rule that this violates.
BAD = [
    ("README.md", "[gone](docs/gone.md)", "link"),
    ("README.md", "![gone](gone.png)", "link"),
    ("README.md", "[titled](gone.md 'title')", "link"),
    ("README.md", "[spaced](<docs/a gone.png>)", "link"),
    ("README.md", '<img src="gone.png">', "link"),
    ("README.md", "[outside](../x.md)", "link"),
    ("README.md", "[ignored](build/x.html)", "link"),
    ("docs/a.md", "[wrong folder](docs/b/c.md)", "link"),
    ("docs/b/c.md", "[ref]: gone.md", "link"),
    ("ARCHITECTURE.md", "`hyperatom/gone.hpp`", "path"),
    ("ARCHITECTURE.md", "`hyperatom/base/types.{hpp,cxx}`", "path"),
    ("CONTRIBUTING.md", "run `python3 scripts/gone.py --all`", "path"),
    ("CONTRIBUTING.md", "`tests/*/gone_test.cpp`", "path"),
    ("docs/a.md", "`.ci/gone`", "path"),
    ("CHANGELOG.md", f"see {HOME}me/x", "machine"),
    ("scripts/x.sh", f'cd "{WORK}main"', "machine"),
    ("hyperatom/base/types.cpp", f"// file://{ROOT}x", "machine"),
]


def self_test() -> str:
    tree = dict(CLEAN)
    violations = set()
    for file, line, rule in BAD:
        tree[file] = tree.get(file, "") + line + "\n"
        violations.add((file, tree[file].count("\n"), rule))
    expect(check, CLEAN, set())
    expect(check, tree, violations)
    expect(check, {}, set())
    rules = ", ".join(sorted({rule for _, _, rule in BAD}))
    return f"{len(BAD)} violations of {rules} found, {len(CLEAN)} clean files passed"


if __name__ == "__main__":
    sys.exit(run(check, self_test))
