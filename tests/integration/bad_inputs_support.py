"""What test_bad_inputs.py is made of: the good folder, the ways to spoil it, and one way to run.

A *maker* is a function of a folder that puts something into it, or spoils what is there:
`cut("scene.img", 100)`. The good folder holds

    scene.img, .hdr   24 x 24 pixels of 12 bands, 0.4 to 2.5 um, ENVI, UTM 33N, no-data -9999
    labels.tif        its labels: 3 classes
    fields.geojson    two polygons in it with the fields crop (text) and plot (number)
    split.json        10 training pixels of every class
    run               a model of it
    map.tif           the map of that model
    tuned             settings of svm-l, tuned on the split
    compared          svm-l and src-l1-l on two splits
"""

import ctypes
import ctypes.util
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable

import numpy as np
from osgeo import gdal, osr

gdal.UseExceptions()

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("HYPERATOM_BIN", ROOT / "build/release/bin/hyperatom")).resolve()

ROWS, COLS, BANDS = 24, 24, 12
TRANSFORM = (500000.0, 20.0, 0.0, 5400000.0, 0.0, -20.0)
UTM33, UTM32 = 32633, 32632

Maker = Callable[[Path], None]


# ---- Running


@dataclass(frozen=True)
class Outcome:
    code: int
    stdout: str
    stderr: str


def sees_interrupts(pid: int) -> bool:
    """Whether the program has said that it handles SIGINT."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (signal.SIGINT - 1) & 1)
    return False


def environment() -> dict[str, str]:
    """Without settings of GDAL, and with errors of the system in English."""
    of_gdal = ("CPL_", "GDAL", "GTIFF", "OGR_", "VSI")
    return {name: value for name, value in os.environ.items()
            if not name.startswith(of_gdal)} | {"LC_ALL": "C"}


def run(folder: Path, line: str, *, largest_file: int | None = None, stdout: str | None = None,
        interrupt: bool = False) -> Outcome:
    """Runs `hyperatom line` in the folder. `largest_file`: bytes, as on a disk that is full.
    `stdout`: a file to write it to. `interrupt`: Ctrl-C as soon as that is handled."""

    def limit() -> None:
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    with open(stdout or os.devnull, "wb") as target:
        process = subprocess.Popen(
            [BINARY, *shlex.split(line)], cwd=folder, stdin=subprocess.DEVNULL,
            stdout=target if stdout else subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(), preexec_fn=limit)
    if interrupt:
        while process.poll() is None and not sees_interrupts(process.pid):
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return Outcome(process.returncode, (out or b"").decode(), err.decode())


def peak_memory(folder: Path, line: str) -> int:
    """In bytes, of a run that must succeed; GDAL's cache has 8 MB of it."""
    with subprocess.Popen([BINARY, *shlex.split(line)], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env=environment() | {"GDAL_CACHEMAX": "8"}) as process:
        peak = 0  # not what the system tells of a child that has ended: that counts its parent's
        while process.poll() is None:
            status = Path(f"/proc/{process.pid}/status").read_text()
            if found := re.search(r"VmHWM:\s*(\d+) kB", status):
                peak = int(found[1]) * 1024
            time.sleep(0.002)
        assert process.returncode == 0
    return peak


def snapshot(folder: Path) -> dict[str, str]:
    """All there is, with what is in it."""
    def content(path: Path) -> str:
        if path.is_symlink():
            return f"link to {os.readlink(path)}"
        return "folder" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()

    return {str(path.relative_to(folder)): content(path) for path in sorted(folder.rglob("*"))}


# ---- The good folder


SETTINGS = "--kernel 'gaussian(sigma=0.5)' --epochs 3"


def make_good_folder(folder: Path) -> None:
    folder.mkdir(parents=True)
    polygons("fields.geojson")(folder)
    for line in (
            f"synth -o scene.img --labels labels.tif --rows {ROWS} --cols {COLS} --bands {BANDS}"
            " --classes 3",
            "split labels.tif --per-class 10 -o split.json",
            f"train scene.img --labels labels.tif --split split.json -o run {SETTINGS}",
            "classify scene.img -m run -o map.tif",
            "tune scene.img --labels labels.tif --split split.json --method svm-l -o tuned",
            "compare scene.img --labels labels.tif --per-class 10 --repeats 2"
            " --methods svm-l,src-l1-l -o compared"):
        outcome = run(folder, line)
        assert outcome.code == 0, f"hyperatom {line}\n{outcome.stderr}"


# ---- Makers: any file


def all_of(*makers: Maker) -> Maker:
    def make(folder: Path) -> None:
        for maker in makers:
            maker(folder)

    return make


def nothing(folder: Path) -> None:
    del folder


def write(name: str, content: bytes | str = b"") -> Maker:
    data = content.encode() if isinstance(content, str) else content

    def make(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)

    return make


def append(name: str, text: str) -> Maker:
    return lambda folder: write(name, (folder / name).read_text() + text)(folder)


def replace(name: str, pattern: str, text: str) -> Maker:
    """All that the pattern matches."""
    def make(folder: Path) -> None:
        before = (folder / name).read_text()
        after = re.sub(pattern, text, before)
        assert after != before
        (folder / name).write_text(after)

    return make


def subfolder(name: str) -> Maker:
    return lambda folder: (folder / name).mkdir()


def remove(name: str) -> Maker:
    return lambda folder: (folder / name).unlink()


def copy(source: str, target: str) -> Maker:
    return lambda folder: (folder / target).write_bytes((folder / source).read_bytes())


def cut(name: str, size: int) -> Maker:
    """To so many bytes; if negative, so many fewer."""
    def make(folder: Path) -> None:
        data = (folder / name).read_bytes()
        assert abs(size) < len(data)
        (folder / name).write_bytes(data[:size])

    return make


def flip(name: str, at: int) -> Maker:
    """One bit of one byte."""
    def make(folder: Path) -> None:
        data = bytearray((folder / name).read_bytes())
        data[at] ^= 1
        (folder / name).write_bytes(data)

    return make


def edit(name: str, change: Callable[[Any], None]) -> Maker:
    """Of a JSON file."""
    def make(folder: Path) -> None:
        content = json.loads((folder / name).read_text())
        change(content)
        (folder / name).write_text(json.dumps(content))

    return make


def rehash(name: str = "split.json", **fields: object) -> Maker:
    """Changes a split as someone does who knows how its hash is made."""
    def change(split: dict[str, Any]) -> None:
        split.update(fields)
        train, test = (" ".join(map(str, split[side])) for side in ("train", "test"))
        text = f"{split['rows']} x {split['cols']}; train {train}; test {test}"
        split["sha256"] = hashlib.sha256(text.encode()).hexdigest()

    return edit(name, change)


# ---- Makers: ENVI


def header(**fields: object) -> Maker:
    """Sets fields of scene.hdr; blanks in their names are underscores here."""
    def make(folder: Path) -> None:
        path = folder / "scene.hdr"
        names = {name.replace("_", " ") for name in fields}
        lines = [line for line in path.read_text().splitlines()
                 if line.split("=")[0].strip() not in names]
        lines += [f"{name.replace('_', ' ')} = {value}" for name, value in fields.items()]
        path.write_text("\n".join(lines) + "\n")

    return make


def spectra(folder: Path) -> np.ndarray:
    """Of scene.img: rows x cols x bands."""
    values = np.fromfile(folder / "scene.img", "<f4").reshape(BANDS, ROWS, COLS)
    return np.ascontiguousarray(values.transpose(1, 2, 0))


def change_scene(change: Callable[[np.ndarray], np.ndarray | None]) -> Maker:
    """Rewrites scene.img; the function changes rows x cols x bands in place, or gives another
    array."""
    def make(folder: Path) -> None:
        values = spectra(folder)
        changed = change(values)
        values = values if changed is None else changed
        rows, cols, bands = values.shape
        np.ascontiguousarray(values.transpose(2, 0, 1), "<f4").tofile(folder / "scene.img")
        fields = {"lines": rows, "samples": cols, "bands": bands}
        if bands != BANDS:
            centres = ", ".join(f"{w:.4f}" for w in np.linspace(0.4, 2.5, bands))
            fields |= {"wavelength": f"{{{centres}}}"}
            without_band_names(folder)
        header(**fields)(folder)

    return make


def tall_scene(name: str, rows: int = 20000) -> Maker:
    """A scene of zeros that takes no room on the disk: 50 columns, 12 bands."""
    def make(folder: Path) -> None:
        centres = ", ".join(f"{w:.6f}" for w in np.linspace(0.4, 2.5, BANDS))
        with open(folder / name, "wb") as stream:
            stream.truncate(4 * rows * 50 * BANDS)
        (folder / name).with_suffix(".hdr").write_text(
            f"ENVI\nsamples = 50\nlines = {rows}\nbands = {BANDS}\ndata type = 4\n"
            f"interleave = bil\nbyte order = 0\nwavelength units = Micrometers\n"
            f"wavelength = {{{centres}}}\n")

    return make


def without_band_names(folder: Path) -> None:
    text = (folder / "scene.hdr").read_text()
    start = text.index("band names")
    (folder / "scene.hdr").write_text(text[:start] + text[text.index("}\n", start) + 2:])


# ---- Makers: rasters


def raster(name: str, values: Any, *, crs: int | None = UTM33, transform: Any = TRANSFORM,
           kind: int = gdal.GDT_Float64, driver: str = "GTiff", no_data: float | None = None,
           options: Iterable[str] = ()) -> Maker:
    """`values`: bands x rows x cols or rows x cols."""
    def make(folder: Path) -> None:
        array = np.asarray(values)
        array = array if array.ndim == 3 else array[None]
        dataset = gdal.GetDriverByName("MEM").Create("", array.shape[2], array.shape[1],
                                                     array.shape[0], kind)
        if crs:
            reference = osr.SpatialReference()
            reference.ImportFromEPSG(crs)
            dataset.SetSpatialRef(reference)
        if transform:
            dataset.SetGeoTransform(transform)
        for band, plane in enumerate(array, start=1):
            dataset.GetRasterBand(band).WriteArray(plane)
            if no_data is not None:
                dataset.GetRasterBand(band).SetNoDataValue(no_data)
        gdal.GetDriverByName(driver).CreateCopy(str(folder / name), dataset, options=list(options))

    return make


def geotiff(name: str) -> Maker:
    """scene.img as a compressed GeoTIFF."""
    def make(folder: Path) -> None:
        gdal.Translate(str(folder / name), str(folder / "scene.img"),
                       creationOptions=["COMPRESS=DEFLATE", "INTERLEAVE=BAND", "TILED=YES"])

    return make


def mask(name: str, *, rows: int = ROWS, value: int = 1, **how: Any) -> Maker:
    return raster(name, np.full((rows, COLS), value), kind=gdal.GDT_Byte, **how)


def label_values(folder: Path) -> np.ndarray:
    return gdal.Open(str(folder / "labels.tif")).ReadAsArray().astype(int)


def change_labels(change: Callable[[np.ndarray], np.ndarray | None], **how: Any) -> Maker:
    """Makes new.tif from labels.tif; the function changes them in place, or gives another array."""
    def make(folder: Path) -> None:
        values = label_values(folder).astype(float)
        changed = change(values)
        raster("new.tif", values if changed is None else changed, **how)(folder)

    return make


def labels_npy(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Maker:
    return lambda folder: np.save(folder / name, change(label_values(folder)))


# ---- Makers: vector labels


def square(row: float, col: float, size: float) -> list[list[float]]:
    """Corners of a square of so many pixels, in map coordinates."""
    x, y = TRANSFORM[0] + 20 * col, TRANSFORM[3] - 20 * row
    side = 20 * size
    return [[x, y], [x + side, y], [x + side, y - side], [x, y - side], [x, y]]


FIELDS = [("wheat", 1, square(2, 2, 6)), ("corn", 2, square(12, 12, 8))]


def polygons(name: str, features: Any = None) -> Maker:
    """`features`: crop, plot and corners (None: no geometry)."""
    def feature(crop: object, plot: object, corners: object) -> dict[str, Any]:
        geometry = {"type": "Polygon", "coordinates": [corners]} if corners else None
        return {"type": "Feature", "geometry": geometry,
                "properties": {"crop": crop, "plot": plot}}

    return write(name, json.dumps({
        "type": "FeatureCollection",
        "crs": {"type": "name", "properties": {"name": f"urn:ogc:def:crs:EPSG::{UTM33}"}},
        "features": [feature(*each) for each in (FIELDS if features is None else features)]}))


def shapefile(name: str) -> Maker:
    """fields.geojson without a CRS."""
    def make(folder: Path) -> None:
        gdal.VectorTranslate(str(folder / name), str(folder / "fields.geojson"),
                             format="ESRI Shapefile")
        (folder / name).with_suffix(".prj").unlink()

    return make


# ---- Makers: arrays


def npy(name: str, change: Callable[[np.ndarray], np.ndarray] = lambda cube: cube) -> Maker:
    """An array made from the scene's rows x cols x bands."""
    return lambda folder: np.save(folder / name, change(spectra(folder)))


def mat_mark(version: str, number: int) -> bytes:
    text = f"MATLAB {version} MAT-file".encode()
    return text.ljust(116) + bytes(8) + struct.pack("<H2s", number, b"IM")


def mat5_element(kind: int, data: bytes) -> bytes:
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def mat5_matrix(name: str, value: Any) -> bytes:
    """A float array, or for a dict a 1 x 1 structure of them."""
    structure = isinstance(value, dict)
    array = np.zeros((1, 1)) if structure else np.asarray(value, "<f4")
    parts = [mat5_element(6, struct.pack("<II", 2 if structure else 7, 0)),
             mat5_element(5, np.array(array.shape, "<i4").tobytes()),
             mat5_element(1, name.encode())]
    if structure:
        parts += [struct.pack("<HHi", 5, 4, 8),
                  mat5_element(1, b"".join(key.encode().ljust(8, b"\0") for key in value))]
        parts += [mat5_matrix("", each) for each in value.values()]
    else:
        parts.append(mat5_element(7, array.tobytes("F")))
    return mat5_element(14, b"".join(parts))


def mat5(name: str, variables: Callable[[np.ndarray], dict[str, Any]]) -> Maker:
    """MATLAB 5: variables made from the scene's rows x cols x bands."""
    def make(folder: Path) -> None:
        made = variables(spectra(folder)).items()
        (folder / name).write_bytes(mat_mark("5.0", 0x0100) +
                                    b"".join(mat5_matrix(*each) for each in made))

    return make


def mat4(name: str) -> Maker:
    values = np.arange(6.0)
    return write(name, struct.pack("<5I", 0, 2, 3, 0, 5) + b"cube\0" + values.tobytes())


def mat73(name: str, variable: str = "cube") -> Maker:
    """MATLAB 7.3: HDF5 behind a block of 512 bytes, the axes of the scene in reverse order."""
    def make(folder: Path) -> None:
        hdf5 = ctypes.CDLL(ctypes.util.find_library("hdf5_serial") or "libhdf5_serial.so.103")
        ident = ctypes.c_int64
        for function in ("H5Pcreate", "H5Fcreate", "H5Screate_simple", "H5Dcreate2", "H5Screate",
                         "H5Acreate2", "H5Tcopy"):
            getattr(hdf5, function).restype = ident

        def constant(symbol: str) -> ctypes.c_int64:
            return ident(ident.in_dll(hdf5, symbol).value)

        hdf5.H5open()
        path, default = str(folder / name).encode(), ident(0)
        creation = ident(hdf5.H5Pcreate(constant("H5P_CLS_FILE_CREATE_ID_g")))
        hdf5.H5Pset_userblock(creation, ctypes.c_uint64(512))
        file = ident(hdf5.H5Fcreate(path, 2, creation, default))
        values = np.ascontiguousarray(spectra(folder).transpose(2, 1, 0))
        shape = (ctypes.c_uint64 * 3)(*values.shape)
        space = ident(hdf5.H5Screate_simple(3, shape, None))
        data = ident(hdf5.H5Dcreate2(file, variable.encode(), constant("H5T_IEEE_F32LE_g"), space,
                                     default, default, default))
        hdf5.H5Dwrite(data, constant("H5T_IEEE_F32LE_g"), default, default, default,
                      values.ctypes.data_as(ctypes.c_void_p))
        text = ident(hdf5.H5Tcopy(constant("H5T_C_S1_g")))
        hdf5.H5Tset_size(text, ctypes.c_size_t(6))
        scalar = ident(hdf5.H5Screate(0))
        attribute = ident(hdf5.H5Acreate2(data, b"MATLAB_class", text, scalar, default, default))
        hdf5.H5Awrite(attribute, text, b"single")
        hdf5.H5Aclose(attribute)
        hdf5.H5Dclose(data)
        hdf5.H5Fclose(file)
        hdf5.H5close()
        with open(folder / name, "r+b") as stream:
            stream.write(mat_mark("7.3", 0x0200))

    return make


def copy_of(good: Path, folder: Path) -> Path:
    shutil.copytree(good, folder)
    return folder
