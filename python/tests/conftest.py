"""What several tests need. One thread, so that tests may run side by side."""

import os
import subprocess
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # or scikit-learn skips a check

import numpy as np
import pytest

import hyperatom

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def command():
    """Runs the command line, which another build made."""
    binary = os.environ.get("HYPERATOM_BIN", "")
    if not Path(binary).is_file():
        pytest.skip("needs the command line: HYPERATOM_BIN names no file")

    def run(*arguments):
        done = subprocess.run([str(Path(binary).resolve()), *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def scene():
    """150 x 300 pixels: three sequences of columns, the last one short."""
    return hyperatom.synth(150, 300, bands=12, classes=4, random_state=3)


@pytest.fixture(scope="session")
def samples(scene):
    train, _ = hyperatom.split(scene[1], per_class=12, random_state=0)
    return hyperatom.windows(scene[0], train, size=9)


@pytest.fixture(scope="session")
def classifier(samples):
    X, y, _ = samples
    return hyperatom.KernelTDDLClassifier(kernel="gaussian(sigma=0.05)", epochs=10, random_state=0).fit(X, y)


@pytest.fixture()
def blobs():
    """Two classes of spectra that a linear rule tells apart, and their labels."""
    rng = np.random.default_rng(1)
    y = np.repeat(["grass", "soil"], 25)
    X = rng.normal(0.5, 0.02, (50, 8)) + (y == "soil")[:, np.newaxis] * np.linspace(0, 0.4, 8)
    return X, y
