"""What the integration tests share: the command as a function, a small example, real data.

Environment:
  HYPERATOM_BIN   the command to test; build/release/bin/hyperatom unless told
  HYPERATOM_DATA  the folder of real scenes; ../shared/data beside the repository unless told
  HYPERATOM_SLOW  1: slow tests run under a sanitizer too
"""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator

import jsonschema
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SCHEMAS = REPOSITORY / "schemas"
OF_GDAL = ("CPL_", "GDAL", "GTIFF", "OGR_", "VSI")  # how the names of its settings begin


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


@dataclass(frozen=True)
class Finished:
    """A command that has ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> dict[str, Any]:
        """What --json printed: stdout is one JSON object and nothing else."""
        result = json.loads(self.stdout, parse_constant=refuse_constant)
        assert isinstance(result, dict), self.stdout
        return result


class Command:
    """The command, run in a folder of its own: relative paths are relative to that."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.binary = binary
        self.folder = folder
        self.started: list[subprocess.Popen[str]] = []
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(OF_GDAL)
        }

    def __call__(self, *words: object, code: int = 0, timeout: float = 120,
                 stdout: Any = subprocess.PIPE, folder: Path | None = None) -> Finished:
        """Runs it to its end, which must have this exit code."""
        done = subprocess.run(
            [self.binary, *map(str, words)], cwd=folder or self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True,
            timeout=timeout, check=False)
        assert done.returncode == code, f"exit code {done.returncode}:\n{done.stderr}"
        return Finished(done.returncode, done.stdout, done.stderr)

    def start(self, *words: object, folder: Path | None = None) -> subprocess.Popen[str]:
        """Begins it. What it prints is lost."""
        process = subprocess.Popen(
            [self.binary, *map(str, words)], cwd=folder or self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            text=True)
        self.started.append(process)
        return process

    def end(self) -> None:
        """Ends what a failed test left running."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()


@dataclass(frozen=True)
class Example:
    """A small synthetic scene, its labels, a split, and a run folder. Tests only read them."""

    scene: Path
    labels: Path
    split: Path
    run: Path
    synth_json: dict[str, Any]
    split_json: dict[str, Any]
    train_json: dict[str, Any]


@pytest.fixture(scope="session")
def binary() -> Path:
    told = os.environ.get("HYPERATOM_BIN")
    path = Path(told).resolve() if told else REPOSITORY / "build/release/bin/hyperatom"
    assert os.access(path, os.X_OK), f"{path} is not there: HYPERATOM_BIN says what to test"
    return path


@pytest.fixture
def hyperatom(binary: Path, tmp_path: Path) -> Iterator[Command]:
    """The command, run in the test's own folder."""
    command = Command(binary, tmp_path)
    yield command
    command.end()


def has_viewer(binary: Path) -> bool:
    """Whether the command was built with the viewer of reports in it."""
    return b"</html>" in binary.read_bytes()


@pytest.fixture
def viewer(binary: Path) -> None:
    """Asked for by tests that make a report."""
    if not has_viewer(binary):
        pytest.skip("this hyperatom was built without the viewer of reports")


@pytest.fixture
def slow(binary: Path) -> None:
    """Asked for by tests that take too long under a sanitizer."""
    code = binary.read_bytes()
    sanitized = b"__asan_init" in code or b"__tsan_init" in code
    if sanitized and os.environ.get("HYPERATOM_SLOW") != "1":
        pytest.skip("slow under a sanitizer: HYPERATOM_SLOW=1 runs it")


@pytest.fixture(scope="session")
def example(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Example:
    folder = tmp_path_factory.mktemp("example")
    run = Command(binary, folder)
    scene, labels, split = folder / "scene.img", folder / "labels.tif", folder / "split.json"
    synth = run("synth", "-o", scene, "--labels", labels, "--rows", 40, "--cols", 40, "--bands", 20,
                "--classes", 4, "--field", 10, "--seed", 1, "--json")
    split_run = run("split", labels, "--per-class", 10, "-o", split, "--json")
    train = run("train", scene, "--labels", labels, "--split", split, "--epochs", 5, "--kernel",
                "gaussian(sigma=0.1)", "--normalize", "unit", "-o", folder / "run", "--json")
    return Example(scene, labels, split, folder / "run", synth.json, split_run.json, train.json)


@pytest.fixture(scope="session")
def validate() -> Callable[[str, Any], None]:
    """Asserts that a value is as a schema says: validate("info", result)."""
    schemas = {file.as_uri(): json.loads(file.read_text()) for file in SCHEMAS.glob("*.json")}

    def check(name: str, value: Any) -> None:
        uri = (SCHEMAS / f"{name}.schema.json").as_uri()
        resolver = jsonschema.RefResolver(uri, schemas[uri], store=schemas)
        jsonschema.Draft202012Validator(schemas[uri], resolver=resolver).validate(value)

    return check


@pytest.fixture(scope="session")
def real_data() -> Callable[[str], Path]:
    """Where a file of the real scenes is; skips the test if it is not here."""
    folder = Path(os.environ.get("HYPERATOM_DATA") or REPOSITORY / "../shared/data").resolve()

    def find(file: str) -> Path:
        if not (folder / file).is_file():
            pytest.skip(f"needs {file} in HYPERATOM_DATA or ../shared/data")
        return folder / file

    return find
