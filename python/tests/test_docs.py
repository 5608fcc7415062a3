"""Docstrings, examples and types."""

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest

import hyperatom
from conftest import REPOSITORY

MODULES = [module.name for module in pkgutil.iter_modules(hyperatom.__path__) if module.name != "_core"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    if name == "torch":
        pytest.importorskip("torch", reason="torch is not installed")
    if name == "_files":
        pytest.importorskip("xarray", reason="xarray is not installed")
    result = doctest.testmod(importlib.import_module(f"hyperatom.{name}"))
    assert result.failed == 0 and result.attempted > 0


def public():
    """Classes, functions and methods of ours."""
    for name in hyperatom.__all__:
        thing = getattr(hyperatom, name)
        yield name, thing
        if inspect.isclass(thing):
            for method, function in inspect.getmembers(thing, inspect.isfunction):
                if not method.startswith("_") and function.__module__.startswith("hyperatom"):
                    yield f"{name}.{method}", function


@pytest.mark.parametrize("name, thing", public(), ids=[name for name, _ in public()])
def test_docstrings_are_complete(name, thing):
    """An example, and every parameter, as numpydoc wants them."""
    sections = re.split(r"\n\s*(\w+)\n\s*-+\n", inspect.getdoc(thing))
    named = dict(zip(sections[1::2], sections[2::2]))
    assert ">>> " in named["Examples"]
    if name == "SparseCode":  # made by sparse_code
        return
    described = set(re.findall(r"\w+", " ".join(re.findall(r"^([\w, ]+) :", named.get("Parameters", ""), re.M))))
    assert described == set(inspect.signature(thing).parameters) - {"self"}
    if inspect.isclass(thing) or name == "save_model":
        return
    assert "Returns" in named or "Yields" in named


def run(*command):
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_paper_in_ten_lines():
    scores = {
        line.split()[0]: float(line.split()[1]) for line in run(REPOSITORY / "examples/python/paper.py").splitlines()
    }
    assert set(scores) == {"sdl-l12-k", "sdl-l1-k", "src-l12-k", "svm-k"}
    assert scores["sdl-l12-k"] > 0.9 and max(scores, key=scores.get) == "sdl-l12-k"


def test_the_example_of_an_own_scene(tmp_path):
    geopandas = pytest.importorskip("geopandas", reason="geopandas is not installed")
    rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed")
    pytest.importorskip("dask", reason="dask is not installed")
    from rasterio.features import shapes
    from shapely.geometry import shape as polygon

    cube, labels = hyperatom.synth(70, 60, bands=20, classes=3, random_state=0)
    place = {"crs": "EPSG:32633", "transform": rasterio.Affine(10, 0, 4e5, 0, -10, 58e5)}
    with rasterio.open(
        tmp_path / "own.img", "w", driver="ENVI", height=70, width=60, count=20, dtype="float32", **place
    ) as out:
        out.write(np.moveaxis(cube, 2, 0))
    polygons = [
        (shape, f"crop {int(value)}") for shape, value in shapes(labels, mask=labels > 0, transform=place["transform"])
    ]
    frame = geopandas.GeoDataFrame(
        {"crop": [name for _, name in polygons]}, geometry=[polygon(shape) for shape, _ in polygons], crs=place["crs"]
    )
    frame.to_file(tmp_path / "fields.gpkg")
    told = run(
        REPOSITORY / "examples/python/own_scene.py",
        tmp_path / "own.img",
        tmp_path / "fields.gpkg",
        "crop",
        tmp_path / "map.tif",
    )
    assert "classes ['crop 1', 'crop 2', 'crop 3']" in told and float(told.split()[0]) > 0.8
    with rasterio.open(tmp_path / "map.tif") as source:
        classes = source.read(1)
        assert source.crs.to_epsg() == 32633 and source.nodata == 0
    np.testing.assert_array_equal(classes > 0, np.isfinite(cube).all(axis=2))
    assert (classes == labels)[labels > 0].mean() > 0.85


def test_the_example_of_a_grid_search():
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    told = run(REPOSITORY / "examples/python/grid_search.py")
    assert re.fullmatch(r"lambda1 (0.05|0.15|0.5): 0\.[5-9]\d+ of the held-out pixels\n", told)


def test_examples_of_the_page():
    """Those of docs/python.md that need no file of the reader's."""
    blocks = re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs/python.md").read_text(), re.S)
    code = "\n".join(block for block in blocks if "scene.tif" not in block)
    found: dict = {}
    exec(code, found)
    assert (found["classes"] == found["test"])[found["test"] > 0].mean() > 0.8
    assert found["search"].best_params_["lambda1"] in (0.1, 0.3)


def test_types(tmp_path):
    """The package by its own annotations, and what they tell a user."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "user.py").write_text(
        "import hyperatom\n"
        "reveal_type(hyperatom.sparse_code([[1.0]], [[1.0]], 0.1).gap)\n"
        "reveal_type(hyperatom._core.Model.window)\n"
        "hyperatom.windows(1)\n"
    )
    environment = {**os.environ, "MYPY_CACHE_DIR": str(tmp_path / "cache")}
    check = [sys.executable, "-m", "mypy", "--ignore-missing-imports"]
    done = subprocess.run([*check, "-p", "hyperatom"], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout
    told = subprocess.run([*check, "user.py"], capture_output=True, text=True, cwd=tmp_path, env=environment).stdout
    assert re.search(r'Revealed type is "(builtins\.)?float"', told), told
    assert re.search(r'Revealed type is "def \(self: hyperatom._core.Model\) -> (builtins\.)?int"', told), told
    assert 'Missing positional argument "labels"' in told, told
