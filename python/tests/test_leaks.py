"""Ten thousand calls of everything that crosses into C++ leave nothing behind."""

import gc
import pickle
import sys

import numpy as np
import pytest

import hyperatom
from hyperatom import _core

CALLS = 10_000


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.fixture(scope="module")
def material():
    cube, labels = hyperatom.synth(24, 24, bands=6, classes=2, random_state=0)
    X, y, where = hyperatom.windows(cube, labels, size=4)
    X, y, where = (np.ascontiguousarray(array[::8]) for array in (X, y, where))
    classifier = hyperatom.KernelTDDLClassifier(kernel="linear", epochs=1, random_state=0).fit(X, y)
    return {
        "cube": cube,
        "labels": labels,
        "X": X,
        "y": y.astype(np.int64),
        "where": where,
        "model": classifier.model_,
        "K": np.eye(3),
        "B": np.ones((3, 2)),
    }


def code(m):
    found = _core.Code(m["K"], m["B"], 0.1, 0.0, 1e-8, None)
    found.dense(), found.active, found.vjp(m["B"])


def train(m):
    training = _core.Training(
        m["X"],
        m["y"] - 1,
        2,
        np.zeros(0),
        "unit",
        '{"kernel": "linear", "epochs": 1, "lambda1": 0.1}',
        {"kernel", "epochs", "lambda1"},
    )
    training.begin(None)
    training.run(lambda report: None)
    training.model().dictionary


def refused(m):
    with pytest.raises(ValueError):
        _core.Code(m["K"], m["B"], -1.0, 0.0, 1e-8, None)


CALLED = {
    "code": code,
    "scores": lambda m: m["model"].scores(m["X"][:3]),
    "codes": lambda m: m["model"].codes(m["X"][:3]),
    "classify": lambda m: m["model"].classify(m["cube"][:4, :4].copy(), 0, 4, 0, 4, []),
    "pickle": lambda m: pickle.loads(pickle.dumps(m["model"])).class_names,
    "train": train,
    "refused": refused,
    "windows": lambda m: _core.window_places(np.ones((24, 24), np.uint8), m["where"], 4),
    "split": lambda m: _core.split(m["labels"], 4, None, None, 0, 0, 1),
}


@pytest.mark.parametrize("name", CALLED)
def test_calls_leave_nothing_behind(material, name):
    call = CALLED[name]
    for _ in range(CALLS // 10):
        call(material)
    gc.collect()
    counted = [*material.values(), None]
    references, objects, memory = [sys.getrefcount(thing) for thing in counted], len(gc.get_objects()), resident()
    for _ in range(CALLS):
        call(material)
    gc.collect()
    grown = [after - before for before, after in zip(references, (sys.getrefcount(thing) for thing in counted))]
    assert max(map(abs, grown)) < CALLS / 100, grown
    assert len(gc.get_objects()) - objects < CALLS / 100
    assert resident() - memory < 100 * CALLS, f"{(resident() - memory) / CALLS:.0f} bytes a call"
