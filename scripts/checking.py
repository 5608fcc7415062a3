"""What the check scripts share: the repository's files, violations, self-tests, command line."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable, NamedTuple

NOT_OURS = {".git", ".cache", "build", "dist", "node_modules", "runs", "__pycache__"}


class Violation(NamedTuple):
    file: str
    line: int
    rule: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what} [{self.rule}]"


Check = Callable[[Path], list[Violation]]


def repo_files(root: Path) -> list[str]:
    """Paths from `root` of what git tracks or would track; without git, all but build products."""
    if (root / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listing = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
        names = {os.fsdecode(name) for name in listing.split(b"\0") if name}
        return sorted(name for name in names if (root / name).is_file())
    found = []
    for folder, subfolders, files in os.walk(root):
        subfolders[:] = [name for name in subfolders if name not in NOT_OURS]
        found += [(Path(folder) / name).relative_to(root).as_posix() for name in files]
    return sorted(found)


def expect(check: Check, tree: dict[str, str], violations: set[tuple[str, int, str]]) -> None:
    """Asserts that a folder holding `tree` (text by file) has just these (file, line, rule)."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for file, text in tree.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text, encoding="utf-8")
        found = {violation[:3] for violation in check(root)}
    assert found == violations, f"missed {violations - found}, wrongly found {found - violations}"


def run(check: Check, self_test: Callable[[], str]) -> int:
    """The command line of a check script: [--self-test]; the exit code tells."""
    name = Path(sys.argv[0]).stem
    if sys.argv[1:] == ["--self-test"]:
        print(f"{name}: self-test passed: {self_test()}")
        return 0
    if sys.argv[1:]:
        print(f"usage: {name}.py [--self-test]", file=sys.stderr)
        return 2
    violations = check(Path(__file__).resolve().parent.parent)
    for violation in violations:
        print(violation)
    print(f"{name}: {len(violations)} violations")
    return 1 if violations else 0
