"""Bad inputs: what hyperatom says, the exit code, and that nothing is damaged.

An entry of BAD is one bad input: a name, the command line, the exit code, what the error must say,
and how the good folder is spoilt first (bad_inputs_support.py). One test runs them all: one line of
error, an empty stdout, and the folder as it was. ODD has inputs that look bad and must work.
`theme` marks those that answer a complaint of the table in docs/errors.md.
"""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import pytest
from osgeo import gdal

from bad_inputs_support import (
    BANDS, BINARY, COLS, FIELDS, ROOT, ROWS, SETTINGS, TRANSFORM, UTM32, Maker, all_of, append,
    change_labels, change_scene, copy, copy_of, cut, edit, flip, geotiff, header, label_values,
    labels_npy, make_good_folder, mask, mat4, mat5, mat73, nothing, npy, peak_memory, polygons,
    raster, rehash, remove, replace, run, shapefile, snapshot, square, subfolder, tall_scene, write)

USAGE, DATA, NUMERICAL, RESOURCES, STOPPED = 2, 3, 4, 5, 130


@dataclass(frozen=True)
class Bad:
    name: str
    line: str  # after `hyperatom`
    code: int
    says: list[str]  # pieces of the one line of error
    make: Maker = nothing
    theme: str = ""
    largest_file: int | None = None  # bytes: a disk that is full
    stdout: str | None = None
    interrupt: bool = False
    help: bool = False  # follows the error


TRAIN = "train scene.img --labels labels.tif -o new"
TRAIN_ON = f"train scene.img -o new {SETTINGS} --labels"
SPLIT_TRAIN = f"train scene.img --labels labels.tif --split split.json -o new {SETTINGS}"
CLASSIFY = "classify scene.img -m run -o out.tif"
EVALUATE = "evaluate map.tif --labels labels.tif"
SPLIT = "split labels.tif -o new.json"
EXPLAIN = "explain scene.img -m run --pixel"
TUNE = "tune scene.img --labels labels.tif --split split.json --method svm-l -o new"
COMPARE = "compare scene.img --labels labels.tif --per-class 10 --methods svm-l -o new"
LONG = 300 * "x"  # more than a name may have


def put(value: float) -> Callable[[np.ndarray], None]:
    """One pixel of a label map."""
    def change(labels: np.ndarray) -> None:
        labels[3, 4] = value

    return change


def first_of_each(labels: np.ndarray) -> np.ndarray:
    """One pixel of every class."""
    kept = np.zeros_like(labels)
    for c in (1, 2, 3):
        place = tuple(np.argwhere(labels == c)[len(labels) // 2])
        kept[place] = c
    return kept


def where_labelled(value: float) -> Maker:
    def make(folder: Path) -> None:
        labelled = label_values(folder) > 0
        change_scene(lambda cube: cube.__setitem__(labelled, value))(folder)

    return make


VRT = ('<VRTDataset rasterXSize="24" rasterYSize="24"><VRTRasterBand dataType="Float32" band="1">'
       '<SimpleSource><SourceFilename relativeToVRT="1">scene.img</SourceFilename><SourceBand>1'
       '</SourceBand></SimpleSource></VRTRasterBand></VRTDataset>')
OTHER_WAVELENGTHS = "{" + ", ".join(f"{0.4 + 0.045 * band:.3f}" for band in range(BANDS)) + "}"

# ---- The command line itself

COMMAND_LINE = [
    Bad("no verb", "", USAGE, ["a verb is needed"], help=True),
    Bad("unknown verb", "clasify scene.img", USAGE, ["'clasify'", "did you mean classify"]),
    Bad("flag before the verb", "--quiet info scene.img", USAGE, ["'--quiet'", "expected a verb"]),
    Bad("unknown flag, no verb", "--nope", USAGE, ["'--nope'", "expected a verb"]),
    Bad("unknown option of train", f"{TRAIN} --lamda1 1", USAGE,
        ["train", "--lamda1", "did you mean --lambda1"]),
    Bad("unknown option of classify", f"{CLASSIFY} --shards 1/2", USAGE,
        ["--shards", "did you mean --shard"]),
    Bad("unknown option of info", "info scene.img --label labels.tif", USAGE,
        ["--label", "did you mean --labels"]),
    Bad("unknown option of split", f"{SPLIT} --per-clas 5", USAGE,
        ["--per-clas", "did you mean --per-class"]),
    Bad("unknown option of evaluate", f"{EVALUATE} --splitt split.json", USAGE,
        ["--splitt", "did you mean --split"]),
    Bad("unknown option of explain", f"{EXPLAIN} 3,3 --models run", USAGE,
        ["--models", "did you mean --model"]),
    Bad("unknown option of synth", "synth -o s.img --labels l.tif --row 9", USAGE,
        ["--row", "did you mean --rows"]),
    Bad("unknown option of demo", "demo --ouput x", USAGE, ["--ouput", "did you mean --output"]),
    Bad("unknown letter", "info scene.img -x", USAGE, ["info", "unexpected '-x'"]),
    Bad("a word too many", "info scene.img more words", USAGE, ["info", "unexpected 'more'"]),
    Bad("flag with a value", "info scene.img --json=5", USAGE,
        ["--json takes no value", "'--json=5'"]),
    Bad("option without a value", f"{TRAIN} --epochs", USAGE, ["--epochs", "missing"]),
    Bad("option twice", f"{TRAIN} -o other", USAGE, ["--output", "received 2"]),
    Bad("info without a scene", "info", USAGE, ["info", "scene is required"]),
    Bad("classify without a model", "classify scene.img -o out.tif", USAGE,
        ["--model is required"]),
    Bad("classify without an output", "classify scene.img -m run", USAGE, ["--output is required"]),
    Bad("evaluate without labels", "evaluate map.tif", USAGE, ["--labels is required"]),
    Bad("explain without a pixel", "explain scene.img -m run", USAGE, ["--pixel is required"]),
    Bad("split without an output", "split labels.tif --train 9", USAGE, ["--output is required"]),
    Bad("synth without labels", "synth -o s.img", USAGE, ["--labels is required"]),
    Bad("train without a scene", "train --labels labels.tif -o new", USAGE, ["needs a scene"]),
    Bad("train without labels", "train scene.img -o new", USAGE, ["needs --labels"]),
    Bad("train without a run", "train scene.img --labels labels.tif", USAGE, ["needs -o"]),
    Bad("unknown option of tune", f"{TUNE} --fold 3", USAGE, ["--fold", "did you mean --folds"]),
    Bad("unknown option of compare", f"{COMPARE} --repeat 3", USAGE,
        ["--repeat", "did you mean --repeats"]),
    Bad("tune without a scene", "tune --labels labels.tif -o new", USAGE, ["needs a scene"]),
    Bad("tune without labels", "tune scene.img -o new", USAGE, ["tune needs --labels"]),
    Bad("tune without a folder", "tune scene.img --labels labels.tif", USAGE, ["tune needs -o"]),
    Bad("compare without a scene", "compare --labels labels.tif --train 9 -o new", USAGE,
        ["needs a scene"]),
    Bad("compare without labels", "compare scene.img --train 9 -o new", USAGE,
        ["compare needs --labels"]),
    Bad("compare without a folder", "compare scene.img --labels labels.tif --train 9", USAGE,
        ["compare needs -o"]),
    Bad("empty scene name", "info ''", USAGE, ["scene must not be empty"]),
    Bad("empty mask name", f"{CLASSIFY} --mask ''", USAGE, ["--mask must not be empty"]),
    Bad("empty output name", "classify scene.img -m run -o ''", USAGE,
        ["--output must not be empty"]),
]

# ---- Values of options

VALUES = [
    Bad("number: text", f"{TRAIN} --lambda1 small", USAGE, ["--lambda1", "a number", "'small'"]),
    Bad("number: empty", f"{TRAIN} --lambda1 ''", USAGE, ["--lambda1", "a number", "''"]),
    Bad("number: NaN", f"{TRAIN} --lambda1 nan", USAGE, ["--lambda1", "greater than 0", "'nan'"]),
    Bad("number: infinite", f"{TRAIN} --nu inf", USAGE, ["--nu", "'inf'"]),
    Bad("number: too large", f"{TRAIN} --lambda1 1e999", USAGE, ["--lambda1", "'1e999'"]),
    Bad("number: out of range", f"{TRAIN} --tolerance 0.5", USAGE,
        ["--tolerance", "at most 0.1", "'0.5'"]),
    Bad("number: on the open bound", f"{TRAIN} --lambda1 0", USAGE,
        ["--lambda1", "greater than 0", "'0'"]),
    Bad("count: a fraction", f"{TRAIN} --epochs 1.5", USAGE, ["--epochs", "whole number", "'1.5'"]),
    Bad("count: too large", f"{TRAIN} --batch 99999999999999999999", USAGE,
        ["--batch", "whole number"]),
    Bad("count: window of 0", f"{TRAIN} --window 0", USAGE, ["--window", "at least 1", "'0'"]),
    Bad("count: fewer bands than two", "synth -o s.img --labels l.tif --bands 1", USAGE,
        ["--bands", "at least 2", "'1'"]),
    Bad("synth: more classes than fields", "synth -o s.img --labels l.tif --rows 8 --cols 8"
        " --classes 60", USAGE, ["classes must be at most", "not 60"]),
    Bad("threads below 0", f"{CLASSIFY} --threads -1", USAGE, ["--threads", "at least 0", "'-1'"]),
    Bad("too many threads", f"{CLASSIFY} --threads 5000", USAGE, ["--threads", "at most 1024"]),
    Bad("seed below 0", f"{TRAIN} --seed -1", USAGE, ["--seed", "0 or greater", "'-1'"]),
    Bad("ram of 0", f"{CLASSIFY} --ram 0", USAGE, ["--ram", "at least 1", "'0'"], theme="Memory"),
    Bad("choice: method", f"{TRAIN} --method svm", USAGE,
        ["--method", "sdl-l1-l, sdl-l1-k, sdl-l12-l, sdl-l12-k", "'svm'"]),
    Bad("choice: normalize", f"{TRAIN} --normalize max", USAGE,
        ["--normalize", "minmax", "'max'"], theme="Normalisation"),
    Bad("kernel: unknown", f"{TRAIN} --kernel 'gausian(sigma=1)'", USAGE,
        ["--kernel", "'gausian'", "gaussian"]),
    Bad("kernel: parameter out of range", f"{TRAIN} --kernel 'gaussian(sigma=-1)'", USAGE,
        ["--kernel", "sigma must be greater than 0", "-1"]),
    Bad("kernel: unknown parameter", f"{TRAIN} --kernel 'polynomial(degree=2,c=1,x=3)'", USAGE,
        ["--kernel", "polynomial", "unknown parameter"]),
    Bad("kernel: open bracket", f"{TRAIN} --kernel 'gaussian(sigma='", USAGE,
        ["--kernel", "expected a finite number", "found nothing"]),
    Bad("kernel: text for a number", f"{TRAIN} --kernel 'gaussian(sigma=big)'", USAGE,
        ["--kernel", "'big)'"]),
    Bad("loss: unknown", f"{TRAIN} --loss hinge", USAGE, ["--loss", "'hinge'", "squared-hinge"]),
    Bad("loss: takes no parameter", f"{TRAIN} --loss 'squared(x=3)'", USAGE,
        ["--loss", "'x'", "takes none"]),
    Bad("shard 0", f"{CLASSIFY} --shard 0/3", USAGE, ["--shard", "i from 1 to n", "'0/3'"]),
    Bad("shard beyond the last", f"{CLASSIFY} --shard 4/3", USAGE, ["--shard", "'4/3'"]),
    Bad("shard: text", f"{CLASSIFY} --shard x", USAGE, ["--shard", "'x'"]),
    Bad("shard: more than rows", f"{CLASSIFY} --shard 1/100", USAGE,
        ["--shard 1/100", "only 24 rows"]),
    Bad("pixel: text", f"{EXPLAIN} here", USAGE, ["--pixel", "ROW,COLUMN", "'here'"]),
    Bad("pixel: one number", f"{EXPLAIN} 5", USAGE, ["--pixel", "ROW,COLUMN", "'5'"]),
    Bad("pixel: outside", f"{EXPLAIN} 24,0", USAGE, ["24,0", "scene.img", "rows are 0 to 23"]),
    Bad("pixel: below 0", f"{EXPLAIN}=-1,0", USAGE, ["-1,0", "scene.img", "rows are 0 to 23"]),
    Bad("pixel: no data", f"{EXPLAIN} 0,0", DATA, ["scene.img", "pixel 0,0 can't be used"]),
    Bad("format: JPEG", f"{CLASSIFY} --of JPEG", USAGE, ["--of", "GTiff, ENVI, COG", "'JPEG'"]),
    Bad("creation option: no value", f"{CLASSIFY} --co TILED", USAGE, ["\"TILED\"", "NAME=VALUE"]),
    Bad("creation option: unknown", f"{CLASSIFY} --co COLOUR=RED", USAGE,
        ["\"COLOUR=RED\"", "GTiff"]),
    Bad("creation option: value", f"{CLASSIFY} --co COMPRESS=WHAT", USAGE,
        ["\"COMPRESS=WHAT\"", "unexpected value"]),
    Bad("creation option: of another format", f"{CLASSIFY} --of ENVI --co COMPRESS=LZW", USAGE,
        ["\"COMPRESS=LZW\"", "ENVI"]),
    Bad("grid: no axis", f"{TUNE} --grid nonsense", USAGE, ["grid", "'nonsense'"]),
    Bad("grid: unknown option", f"{TUNE} --grid colour=1", USAGE, ["colour", "svm-l", "cost"]),
    Bad("grid: empty value", f"{TUNE} --grid cost=1,,2", USAGE, ["'cost=1,,2'", "empty"]),
    Bad("grid: text for a number", f"{TUNE} --grid cost=cheap", USAGE, ["cost", "'cheap'"]),
    Bad("grid: out of range", f"{TUNE} --grid cost=0", USAGE, ["cost", "greater than 0"]),
    Bad("grid: out of range, old tuning stays", f"{TUNE[:-3]} tuned --overwrite --grid cost=0",
        USAGE, ["cost", "greater than 0"]),
    Bad("grid: out of range, old comparison stays",
        f"{COMPARE[:-3]} compared --overwrite --grid cost=0", USAGE, ["cost", "greater than 0"]),
    Bad("folds: one", f"{TUNE} --folds 1", USAGE, ["--folds", "at least 2", "'1'"]),
    Bad("repeats: none", f"{COMPARE} --repeats 0", USAGE, ["--repeats", "at least 1", "'0'"]),
    Bad("methods: unknown", "compare scene.img --labels labels.tif --train 9 --methods svm -o new",
        USAGE, ["--methods", "'svm'", "svm-l"]),
    Bad("methods: twice", "compare scene.img --labels labels.tif --train 9 --methods svm-l,svm-l"
        " -o new", USAGE, ["--methods", "svm-l twice"]),
    Bad("paper: unknown scene", f"{COMPARE} --paper salinas", USAGE,
        ["--paper", "indian-pines, pavia-university", "'salinas'"]),
    Bad("label CRS: a name", f"{TRAIN} --label-crs EPSG:32633", USAGE,
        ["--label-crs", "file, scene", "'EPSG:32633'"]),
]

# ---- Options that contradict each other

CONTRADICTIONS = [
    Bad("split and test labels", f"{SPLIT_TRAIN} --test-labels labels.tif", USAGE,
        ["--split", "--test-labels", "one of them"]),
    Bad("method and window", f"{TRAIN} --method sdl-l1-k --window 9", USAGE,
        ["--method sdl-l1-k", "window of 1", "not 9"]),
    Bad("joint method, window of 1", f"{TRAIN} --method sdl-l12-k --window 1", USAGE,
        ["--method sdl-l12-k", "more than 1"]),
    Bad("method and kernel", f"{TRAIN} --method sdl-l12-l --kernel 'gaussian(sigma=1)'", USAGE,
        ["--method sdl-l12-l", "linear", "gaussian"]),
    Bad("split: no size", SPLIT, USAGE, ["--train, --fraction and --per-class"]),
    Bad("split: two sizes", f"{SPLIT} --train 9 --per-class 3", USAGE,
        ["exactly one of --train, --fraction and --per-class"]),
    Bad("split: polygons and blocks", f"{SPLIT} --train 9 --polygons --blocks 4", USAGE,
        ["--polygons", "--blocks"]),
    Bad("split: buffer alone", f"{SPLIT} --train 9 --buffer 2", USAGE,
        ["--buffer needs --blocks or --polygons"], theme="Leakage"),
    Bad("split: all for training", f"{SPLIT} --fraction 1", USAGE,
        ["--fraction", "less than 1", "not 1"]),
    Bad("split: more than there are", f"{SPLIT} --train 100000", USAGE,
        ["--train", "labelled pixels", "not 100000"]),
    Bad("split: polygons of a raster", f"{SPLIT} --train 9 --polygons", DATA,
        ["labels.tif", "polygons", "raster"]),
    Bad("split: vector without a scene", "split fields.geojson --train 9 -o new.json", DATA,
        ["fields.geojson", "--scene"]),
    Bad("resume with an option", "train --resume run --epochs 9", USAGE,
        ["--resume", "no other option"]),
    Bad("resume with a scene", "train scene.img --resume run", USAGE,
        ["--resume", "no other option"]),
    Bad("resume with a seed", "train --resume run --seed 4", USAGE,
        ["--resume", "no other option"]),
    Bad("resume with a mask", "train --resume run --mask map.tif", USAGE,
        ["--resume", "no other option"]),
    Bad("method and option", f"{TRAIN} --method svm-l --epochs 3", USAGE,
        ["--epochs", "--method svm-l"]),
    Bad("tune: option and axis", f"{TUNE} --cost 3 --grid cost=1,2", USAGE,
        ["--grid cost=1,2", "--cost"]),
    Bad("tune: nothing left", f"{TUNE} --cost 3", USAGE, ["nothing to tune"]),
    Bad("tune: buffer alone", f"{TUNE} --fold-buffer 2", USAGE, ["buffer", "blocks"],
        theme="Leakage"),
    Bad("tune: resume with an option", "tune --resume tuned --folds 5", USAGE,
        ["--resume", "no other option"]),
    Bad("tune: resume with a grid", "tune --resume tuned --grid paper", USAGE,
        ["--resume", "no other option"]),
    Bad("compare: split and size", "compare scene.img --labels labels.tif --split split.json"
        " --train 9 -o new", USAGE, ["--split", "--train"]),
    Bad("compare: no size", "compare scene.img --labels labels.tif -o new", USAGE,
        ["--train, --fraction and --per-class"]),
    Bad("compare: option of no method", f"{COMPARE} --lambda1 0.1", USAGE, ["--lambda1"]),
    Bad("compare: axis of no method", f"{COMPARE} --grid lambda1=0.1", USAGE,
        ["--grid lambda1=0.1", "none of the methods"]),
    Bad("compare: buffer alone", f"{COMPARE} --fold-buffer 2", USAGE, ["buffer", "blocks"]),
    Bad("compare: resume with an option", "compare --resume compared --methods svm-l", USAGE,
        ["--resume", "no other option"]),
    Bad("compare: resume with a seed", "compare --resume compared --seed 4", USAGE,
        ["--resume", "no other option"]),
    Bad("output is the scene", f"classify scene.img -m run -o scene.img --overwrite", USAGE,
        ["--output scene.img", "would replace", "the input scene.img"]),
    Bad("output has the scene's header", "classify scene.img -m run -o scene.map --of ENVI"
        " --overwrite", USAGE, ["--output scene.map", "would replace scene.hdr", "scene.img"]),
    Bad("output is the model", "classify scene.img -m run -o run/model.safetensors --overwrite",
        USAGE, ["would replace model.safetensors", "the input run/model.safetensors"]),
    Bad("output is the mask", f"{CLASSIFY} --mask map.tif --scores ./map.tif --overwrite", USAGE,
        ["--scores ./map.tif", "the input map.tif"]),
    Bad("one output twice", f"{CLASSIFY} --scores out.tif --overwrite", USAGE,
        ["--scores out.tif", "would replace", "--output out.tif"]),
    Bad("one header twice", f"{CLASSIFY} --of ENVI --confidence out.img", USAGE,
        ["--confidence out.img", "would replace out.hdr", "--output out.tif"]),
    Bad("split is the labels", "split labels.tif --train 9 -o labels.tif --overwrite", USAGE,
        ["--output labels.tif", "the input labels.tif"]),
    Bad("synth: one output twice", "synth -o s.tif --of GTiff --labels s.tif", USAGE,
        ["--labels s.tif", "--output s.tif"]),
]

# ---- Scenes

SCENES = [
    Bad("scene: not there", "info nowhere.img", DATA, ["nowhere.img", "no such file"]),
    Bad("scene: name too long", f"info {LONG}", DATA, [LONG]),
    Bad("scene: a folder", "info run", DATA, ["run: ", "is a folder"]),
    Bad("scene: empty", "info new.img", DATA, ["new.img", "is empty"], write("new.img")),
    Bad("scene: text", "info new.img", DATA, ["new.img", "(.hdr) is missing"], write("new.img", "1 2 3\n" * 99)),
    Bad("scene: a zip archive", "info new.npz", DATA, ["new.npz", "zip", ".npy"],
        lambda folder: np.savez(folder / "new.npz", np.zeros((2, 3, 4)))),
    Bad("scene: a variable of an ENVI file", "info scene.img --variable cube", DATA,
        ["scene.img", "no variable 'cube'"]),
    Bad("labels: a variable of a GeoTIFF", f"{TRAIN} --label-variable gt", DATA,
        ["labels.tif", "no variable 'gt'"]),
    Bad("ENVI: no-data is text", "info scene.img", DATA,
        ["scene.img", "data ignore value", "none", "expected a number"],
        header(data_ignore_value="none"), theme="No-data conventions"),
    Bad("scene: an address", "info /vsicurl/http://127.0.0.1:9/x.tif", DATA, ["no such file"]),
    Bad("scene: VRT under another name", "info new.tif", DATA, ["new.tif", "VRT", ".vrt"],
        write("new.tif", VRT)),
    Bad("ENVI: header without data", "info scene.img", DATA, ["scene.img", "no such file"],
        remove("scene.img"), theme="ENVI headers"),
    Bad("ENVI: data without header", "info scene.img", DATA, ["scene.img"], remove("scene.hdr"),
        theme="ENVI headers"),
    Bad("ENVI: the header for the data", "info scene.hdr", DATA, ["scene.hdr", "data file"]),
    *(Bad(f"ENVI: {interleave} cut short", "info scene.img", DATA,
          ["scene.img", "found 27647 bytes", "expected 27648", "24 rows x 24 cols x 12 bands"],
          all_of(header(interleave=interleave), cut("scene.img", -1)), theme="ENVI headers")
      for interleave in ("bsq", "bil", "bip")),
    Bad("ENVI: most of it missing", "info scene.img", DATA, ["scene.img"], cut("scene.img", 1000)),
    Bad("ENVI: lines below 0", "info scene.img", DATA, ["scene.img", "-5"], header(lines=-5)),
    Bad("ENVI: lines are text", "info scene.img", DATA, ["scene.img"], header(lines="many")),
    Bad("ENVI: samples beyond all", "info scene.img", DATA, ["scene.img"], header(samples=2**40)),
    Bad("ENVI: no bands", "info scene.img", DATA, ["scene.img", "0"], header(bands=0)),
    Bad("ENVI: data type", "info scene.img", DATA, ["scene.img", "data"], header(data_type=99)),
    Bad("ENVI: complex numbers", "info scene.img", DATA, ["scene.img", "complex"],
        header(data_type=6)),
    Bad("ENVI: byte order", "info scene.img", DATA, ["byte_order", '"7"', "0 to 1"],
        header(byte_order=7)),
    Bad("ENVI: interleave", "info scene.img", DATA, ["interleave", '"bsx"', "bsq, bil or bip"],
        header(interleave="bsx")),
    Bad("ENVI: offset beyond the end", "info scene.img", DATA, ["found 27648 bytes"],
        header(header_offset=2**40)),
    Bad("ENVI: offset is text", "info scene.img", DATA, ["header_offset", '"1e3"'],
        header(header_offset="1e3")),
    Bad("ENVI: bbl too short", "info scene.img", DATA, ["found 3 entries", "bbl", "expected 12"],
        header(bbl="{1, 1, 0}"), theme="ENVI headers"),
    Bad("ENVI: all bands bad", "info scene.img", DATA, ["all 12 bands marked bad"],
        header(bbl="{" + ", ".join(BANDS * ["0"]) + "}")),
    Bad("ENVI: wavelengths missing", "info scene.img", DATA, ["found 3 wavelengths", "expected 12"],
        header(wavelength="{1, 2, 3}")),
    Bad("ENVI: wavelengths are text", "info scene.img", DATA, ['"red"', "wavelength", "a number"],
        header(wavelength="{red, green}")),
    Bad("ENVI: minor frame offsets", "info scene.img", DATA, ["minor_frame_offsets", "{1,2}"],
        header(minor_frame_offsets="{1,2}"), theme="ENVI headers"),
    Bad("ENVI: major frame offsets of bsq", "info scene.img", DATA,
        ["major_frame_offsets", "{1,2}", "bsq"], header(major_frame_offsets="{1,2}"),
        theme="ENVI headers"),
    Bad("GeoTIFF: data cut", "info new.tif", DATA, ["new.tif", "can't be read"],
        all_of(geotiff("new.tif"), cut("new.tif", -100))),
    Bad("GeoTIFF: directory cut", "info new.tif", DATA, ["new.tif", "can't be opened"],
        all_of(geotiff("new.tif"), cut("new.tif", 100))),
    Bad("GeoTIFF: cut, while classifying", "classify new.tif -m run -o out.tif", DATA,
        ["new.tif", "can't be read"], all_of(geotiff("new.tif"), cut("new.tif", -100))),
    Bad("mat: cut", "info new.mat", DATA, ["new.mat", "bytes", "cut short"],
        all_of(mat5("new.mat", lambda cube: {"cube": cube}), cut("new.mat", -500))),
    Bad("mat: version 4", "info new.mat", DATA, ["new.mat", "MATLAB 4", "-v7"], mat4("new.mat")),
    Bad("mat: two candidates", "info new.mat", DATA,
        ["new.mat", "2 arrays", "a (24 x 24 x 12 single)", "b (24 x 24 x 12 single)"],
        mat5("new.mat", lambda cube: {"a": cube, "b": cube})),
    Bad("mat: wrong variable", "info new.mat --variable cubes", DATA,
        ["new.mat", "'cubes'", "cube (24 x 24 x 12 single)"],
        mat5("new.mat", lambda cube: {"cube": cube})),
    Bad("mat: only labels in it", "info new.mat", DATA,
        ["new.mat", "rows x cols x bands", "gt (24 x 24 single)"],
        mat5("new.mat", lambda cube: {"gt": cube[:, :, 0]})),
    Bad("mat: a structure", "info new.mat --variable scene", DATA,
        ["new.mat", "'scene'", "scene (1 x 1 struct)"],
        mat5("new.mat", lambda cube: {"scene": {"cube": cube}})),
    Bad("mat: no variables", "info new.mat", DATA, ["new.mat", "no variables"],
        mat5("new.mat", lambda cube: {})),
    Bad("mat 7.3: cut", "info new.mat", DATA, ["new.mat", "damaged or cut short"],
        all_of(mat73("new.mat"), cut("new.mat", -5000)), theme="`.mat` v7.3"),
    Bad("mat 7.3: wrong variable", "info new.mat --variable x", DATA,
        ["new.mat", "'x'", "cube (24 x 24 x 12 single)"], mat73("new.mat"), theme="`.mat` v7.3"),
    Bad("npy: cut", "info new.npy", DATA, ["new.npy", "found 27548 bytes", "expected 27648"],
        all_of(npy("new.npy"), cut("new.npy", -100))),
    Bad("npy: header cut", "info new.npy", DATA, ["new.npy", "header"],
        all_of(npy("new.npy"), cut("new.npy", 40))),
    Bad("npy: two dimensions", "info new.npy", DATA,
        ["new.npy", "rows x cols x bands", "24 x 24 float32"],
        npy("new.npy", lambda cube: cube[:, :, 0])),
    Bad("npy: objects", "info new.npy", DATA, ["new.npy", '"|O"', "integers, booleans or floats"],
        npy("new.npy", lambda cube: cube.astype(object))),
    Bad("npy: complex", "info new.npy", DATA, ["new.npy", '"<c16"'],
        npy("new.npy", lambda cube: cube.astype(complex))),
    Bad("npy: no rows", "info new.npy", DATA, ["new.npy", "0 x 24 x 12"],
        npy("new.npy", lambda cube: cube[:0])),
    Bad("all NaN", f"{TRAIN} {SETTINGS}", DATA, ["scene.img", "no pixel can be used", "not finite"],
        change_scene(lambda cube: cube.fill(np.nan))),
    Bad("all no-data", f"{TRAIN} {SETTINGS}", DATA,
        ["scene.img", "no pixel can be used", "no-data"],
        change_scene(lambda cube: cube.fill(-9999)), theme="No-data conventions"),
    Bad("mnf without noise", f"{TRAIN} {SETTINGS} --normalize mnf", DATA,
        ["scene.img", "mnf", "0 pairs of valid neighbouring pixels that differ"],
        change_scene(lambda cube: cube.fill(0.5)), theme="Normalisation"),
    Bad("mnf with few neighbours", f"{TRAIN} {SETTINGS} --normalize mnf", DATA,
        ["scene.img", "mnf", "0 pairs", "at least 4 for each of the 12 bands"],
        change_scene(lambda cube: np.where(np.indices(cube.shape)[:2].sum(axis=0) % 2, np.nan, cube)),
        theme="Normalisation"),
    Bad("all zero", f"{TRAIN} {SETTINGS}", DATA, ["scene.img", "no pixel can be used", "zero"],
        change_scene(lambda cube: cube.fill(0))),
    Bad("other number of bands", CLASSIFY, DATA,
        ["scene.img", "11 bands (0.400 to 2.500 um)", "trained on 12 (0.400 to 2.500 um)"],
        change_scene(lambda cube: cube[:, :, :11])),
    Bad("other number of bands, explained", f"{EXPLAIN} 12,12", DATA,
        ["scene.img", "11 bands", "trained on 12"], change_scene(lambda cube: cube[:, :, :11])),
    Bad("other wavelengths", CLASSIFY, DATA, ["scene.img", "band 2", "0.4450 um", "0.5909 um"],
        header(wavelength=OTHER_WAVELENGTHS)),
    Bad("mask: not there", f"{CLASSIFY} --mask nowhere.tif", DATA, ["nowhere.tif", "no such file"],
        theme="Masks"),
    Bad("mask: other size", f"{CLASSIFY} --mask new.tif", DATA,
        ["new.tif", "20 x 24", "scene's 24 x 24"], mask("new.tif", rows=20), theme="Masks"),
    Bad("mask: elsewhere", f"{CLASSIFY} --mask new.tif", DATA, ["new.tif", "pixels away", "scene.img"],
        mask("new.tif", transform=(500010.0, *TRANSFORM[1:])), theme="Masks"),
    Bad("mask: other CRS", f"{CLASSIFY} --mask new.tif", DATA,
        ["new.tif", "zone 32N", "zone 33N"], mask("new.tif", crs=UTM32), theme="Masks"),
    Bad("mask: all of it", f"{TRAIN} {SETTINGS} --mask new.tif", DATA,
        ["scene.img", "no pixel can be used", "masked"], mask("new.tif", value=0), theme="Masks"),
]

# ---- Labels

LABELS = [
    Bad("labels: not there", f"{TRAIN_ON} nowhere.tif", DATA, ["nowhere.tif", "no such file"]),
    Bad("labels: a folder", f"{TRAIN_ON} run", DATA, ["run: "]),
    Bad("labels: empty", f"{TRAIN_ON} new.tif", DATA, ["new.tif"], write("new.tif")),
    Bad("labels: cut", f"{TRAIN_ON} labels.tif", DATA, ["labels.tif", "can't be read"],
        cut("labels.tif", 1000)),
    Bad("labels: other size", f"{TRAIN_ON} new.tif", DATA,
        ["new.tif", "20 x 24", "expected 24 x 24", "scene.img"],
        change_labels(lambda labels: labels[:20]), theme="Own-data split and format"),
    Bad("labels: other size, evaluated", "evaluate map.tif --labels new.tif", DATA,
        ["new.tif", "20 x 24", "expected 24 x 24", "map.tif"],
        change_labels(lambda labels: labels[:20])),
    Bad("labels: other CRS", f"{TRAIN_ON} new.tif", DATA,
        ["new.tif", "UTM zone 32N (EPSG:32632)", "expected WGS 84 / UTM zone 33N", "scene.img"],
        change_labels(lambda labels: None, crs=UTM32), theme="Georeference / GeoTIFF out"),
    Bad("labels: half a pixel away", f"{TRAIN_ON} new.tif", DATA,
        ["new.tif", "0.5 pixels away", "scene.img", "500010", "500000"],
        change_labels(lambda labels: None, transform=(500010.0, *TRANSFORM[1:])),
        theme="Georeference / GeoTIFF out"),
    Bad("labels: a picture", f"{TRAIN_ON} new.png", DATA, ["new.png", "3 bands", "expected one"],
        raster("new.png", np.ones((3, ROWS, COLS)), kind=gdal.GDT_Byte, driver="PNG", crs=None,
               transform=None)),
    Bad("labels: the scene", f"{TRAIN_ON} scene.img", DATA, ["12 bands", "expected one"]),
    *(Bad(f"labels: a class {value}", f"{TRAIN_ON} new.tif", DATA,
          ["new.tif", f"value {value:.12g} at row 3, column 4", "whole numbers from 0 to 65535"],
          change_labels(put(value)))
      for value in (1.5, -1, 65536, 1e9, np.nan, np.inf)),
    Bad("labels: none", f"{TRAIN_ON} new.tif", DATA, ["new.tif", "no labelled pixel", "576"],
        change_labels(lambda labels: 0 * labels)),
    Bad("labels: none, all no-data", f"{TRAIN_ON} new.tif", DATA, ["new.tif", "no labelled pixel"],
        change_labels(lambda labels: 0 * labels + 7, no_data=7), theme="No-data conventions"),
    Bad("labels: one class", f"{TRAIN_ON} new.tif", DATA,
        ["new.tif", "all of class 1", "at least two classes"],
        change_labels(lambda labels: (labels == 1).astype(float))),
    Bad("labels: only on masked pixels", TRAIN_ON + " labels.tif", DATA,
        ["scene.img", "none of the", "labelled pixels can be used"], where_labelled(np.nan),
        theme="Masks"),
    Bad("labels: npy of other size", f"{TRAIN_ON} new.npy", DATA, ["new.npy", "24 x 24", "20 x 24"],
        labels_npy("new.npy", lambda labels: labels[:20])),
    Bad("labels: npy with fractions", f"{TRAIN_ON} new.npy", DATA,
        ["new.npy", "value 0.5 at row 0, column 0"],
        labels_npy("new.npy", lambda labels: labels + 0.5)),
    Bad("labels: mat with two maps", f"{TRAIN_ON} new.mat", DATA, ["new.mat", "a (24 x", "b (24 x"],
        mat5("new.mat", lambda cube: {"a": cube[:, :, 0], "b": cube[:, :, 0]})),
    Bad("labels: mat without that map", f"{TRAIN_ON} new.mat --label-variable gt", DATA,
        ["new.mat", "'gt'", "a (24 x 24 single)"],
        mat5("new.mat", lambda cube: {"a": cube[:, :, 0]})),
    Bad("labels: a field of a raster", f"{TRAIN_ON} labels.tif --class-field crop", DATA,
        ["labels.tif", "no vector data", "crop"]),
    Bad("labels: VRT under another name", f"{TRAIN_ON} new.tif", DATA, ["new.tif", "VRT", ".vrt"],
        write("new.tif", VRT)),
    Bad("test labels: not there", f"{TRAIN_ON} labels.tif --test-labels nowhere.tif", DATA,
        ["nowhere.tif", "no such file"]),
    Bad("test labels: the training labels", f"{TRAIN_ON} labels.tif --test-labels new.tif", DATA,
        ["labels.tif, new.tif", "is in the training labels and in the test labels"],
        copy("labels.tif", "new.tif"), theme="Leakage"),
    Bad("labels: not there, tuned", "tune scene.img --labels nowhere.tif -o new", DATA,
        ["nowhere.tif", "no such file"]),
    Bad("labels: one class, tuned", "tune scene.img --labels new.tif --method svm-l -o new", DATA,
        ["new.tif", "all of class 1", "at least two classes"],
        change_labels(lambda labels: (labels == 1).astype(float))),
    Bad("labels: one class, compared", f"{COMPARE.replace('labels.tif', 'new.tif')}", DATA,
        ["new.tif", "all of class 1", "at least two classes"],
        change_labels(lambda labels: (labels == 1).astype(float))),
    Bad("labels: one pixel of each class, tuned",
        "tune scene.img --labels new.tif --method svm-l -o new", DATA,
        ["3 training pixels of 3 classes can't be held out in 3 random folds"],
        change_labels(first_of_each)),
    Bad("labels: all for training, compared",
        "compare scene.img --labels new.tif --per-class 10 --methods svm-l -o new", DATA,
        ["new.tif", "no pixel is left to test on"], change_labels(first_of_each)),
    Bad("test labels: the training labels, compared",
        "compare scene.img --labels labels.tif --test-labels new.tif --methods svm-l -o new", DATA,
        ["labels.tif, new.tif", "is in the training labels and in the test labels"],
        copy("labels.tif", "new.tif"), theme="Leakage"),
    Bad("fields: which one", f"{TRAIN_ON} fields.geojson", DATA,
        ["fields.geojson", "crop (String, 2 distinct)", "plot (Integer, 2 distinct)"],
        theme="Own-data split and format"),
    Bad("fields: no such", f"{TRAIN_ON} fields.geojson --class-field crops", DATA,
        ["fields.geojson", '"crops"', "crop (String, 2 distinct)", "plot (Integer, 2 distinct)"]),
    Bad("fields: no CRS", f"{TRAIN_ON} new.shp --class-field crop", DATA,
        ["new.shp", "no CRS", "--label-crs scene"], shapefile("new.shp"),
        theme="Georeference / GeoTIFF out"),
    Bad("fields: all outside", f"{TRAIN_ON} new.geojson --class-field crop", DATA,
        ["new.geojson", "all 2 features", "outside the scene"],
        polygons("new.geojson", [("wheat", 1, square(90, 90, 5)), ("corn", 2, square(99, 9, 5))])),
    Bad("fields: none", f"{TRAIN_ON} new.geojson --class-field crop", DATA, ["new.geojson", "crop"],
        polygons("new.geojson", [])),
    Bad("fields: no geometry", f"{TRAIN_ON} new.geojson --class-field crop", DATA,
        ["new.geojson", "labels no pixel"],
        polygons("new.geojson", [("wheat", 1, None), ("corn", 2, None)])),
    Bad("fields: between the pixels", f"{TRAIN_ON} new.geojson --class-field crop", DATA,
        ["new.geojson", "labels no pixel", "2 cover no pixel centre"],
        polygons("new.geojson", [("a", 1, square(5.1, 5.1, 0.2)),
                                 ("b", 2, square(9.1, 5.1, 0.2))])),
    Bad("fields: no class in any", f"{TRAIN_ON} new.geojson --class-field crop", DATA,
        ["new.geojson", '"crop" is empty'], polygons("new.geojson", [(None, 1, square(5, 5, 5))])),
    Bad("fields: one class", f"{TRAIN_ON} new.geojson --class-field crop", DATA,
        ["new.geojson", "all of class 1 (wheat)", "at least two"],
        polygons("new.geojson", FIELDS[:1])),
    Bad("fields: class is a fraction", f"{TRAIN_ON} new.geojson --class-field plot", DATA,
        ["new.geojson", "1.5", '"plot"', "feature 1", "whole numbers"],
        polygons("new.geojson", [("wheat", 1.5, square(5, 5, 5)), *FIELDS])),
    Bad("fields: cut", f"{TRAIN_ON} new.geojson --class-field crop", DATA, ["new.geojson"],
        all_of(polygons("new.geojson"), cut("new.geojson", -60))),
    Bad("fields: scene without a place", f"train new.npy --labels fields.geojson --class-field crop"
        f" -o new {SETTINGS}", DATA, ["fields.geojson", "UTM zone 33N", "new.npy has none"],
        npy("new.npy")),
]

# ---- Splits

SPLITS = [
    Bad("split: not there", SPLIT_TRAIN, DATA, ["split.json", "no such file"],
        remove("split.json")),
    Bad("split: name too long", f"{EVALUATE} --split {LONG}", DATA, [LONG]),
    Bad("split: not JSON", SPLIT_TRAIN, DATA, ["split.json", "not a split file"],
        write("split.json", "train,test\n1,2\n")),
    Bad("split: other JSON", SPLIT_TRAIN, DATA, ["split.json", "not a split file"],
        copy("fields.geojson", "split.json")),
    Bad("split: cut", SPLIT_TRAIN, DATA, ["split.json", "not a split file"],
        cut("split.json", -20)),
    Bad("split: other schema", SPLIT_TRAIN, DATA, ["split.json", "schema 99", "reads 1"],
        edit("split.json", lambda split: split.update(schema=99))),
    Bad("split: tampered with", SPLIT_TRAIN, DATA, ["split.json", "don't match its sha256"],
        edit("split.json", lambda split: split["train"].pop()), theme="Irreproducible numbers"),
    Bad("split: tampered with, evaluated", f"{EVALUATE} --split split.json", DATA,
        ["split.json", "don't match its sha256"],
        edit("split.json", lambda split: split["test"].pop())),
    Bad("split: other size", SPLIT_TRAIN, DATA,
        ["split.json", "48 x 12", "labels.tif has 24 x 24"], rehash(rows=48, cols=12),
        theme="Own-data split and format"),
    Bad("split: other size, evaluated", f"{EVALUATE} --split split.json", DATA,
        ["split.json", "48 x 12", "labels.tif has 24 x 24"], rehash(rows=48, cols=12)),
    Bad("split: pixel beyond the scene", SPLIT_TRAIN, DATA,
        ["split.json", "pixel 1000000", "24 x 24"], rehash(train=[1000000])),
    Bad("split: pixel without a label", SPLIT_TRAIN, DATA,
        ["split.json", "pixel 0,0 has no label", "labels.tif"], rehash(train=[0, 1], test=[9])),
    Bad("split: pixel on both sides", SPLIT_TRAIN, DATA,
        ["split.json", "1 pixels are for training and for testing"],
        rehash(train=[100, 101], test=[101, 102]), theme="Leakage"),
    Bad("split: nothing to train on", SPLIT_TRAIN, DATA, ["split.json", "no training pixel"],
        rehash(train=[])),
    Bad("split: not there, tuned", TUNE, DATA, ["split.json", "no such file"],
        remove("split.json")),
    Bad("split: tampered with, tuned", TUNE, DATA, ["split.json", "don't match its sha256"],
        edit("split.json", lambda split: split["train"].pop())),
    Bad("split: tampered with, compared",
        "compare scene.img --labels labels.tif --split split.json -o new", DATA,
        ["split.json", "don't match its sha256"],
        edit("split.json", lambda split: split["test"].pop())),
    Bad("split: nothing to test on, compared",
        "compare scene.img --labels labels.tif --split split.json -o new", DATA,
        ["split.json", "no pixel is left to test on"], rehash(test=[])),
    Bad("split: nothing to test on", f"{EVALUATE} --split split.json", DATA,
        ["split.json", "no test pixel", "labels.tif"], rehash(test=[])),
]

# ---- Models and runs

MODEL = "run/model.safetensors"
MODELS = [
    Bad("model: not there", "classify scene.img -m nowhere -o out.tif", DATA,
        ["nowhere", "No such file"]),
    Bad("model: name too long", f"explain scene.img -m {LONG} --pixel 3,3", DATA, [LONG]),
    Bad("model: empty", "classify scene.img -m new -o out.tif", DATA,
        ["new", "0 bytes", "too short"], write("new")),
    Bad("model: a raster", "classify scene.img -m labels.tif -o out.tif", DATA,
        ["labels.tif", "no safetensors file"]),
    Bad("model: text", "explain scene.img -m new --pixel 3,3", DATA, ["new", "no safetensors file"],
        write("new", "a model\n" * 9)),
    Bad("model: cut in the header", CLASSIFY, DATA, [MODEL, "cut off", "200 bytes"],
        cut(MODEL, 200)),
    Bad("model: cut in the data", CLASSIFY, DATA, [MODEL, "damaged"], cut(MODEL, -50)),
    Bad("model: a flipped bit of a weight", CLASSIFY, DATA, [MODEL, "damaged", "SHA-256"],
        flip(MODEL, -100)),
    Bad("model: a flipped bit of the header", CLASSIFY, DATA, [MODEL], flip(MODEL, 300)),
    Bad("model: a checkpoint", "classify scene.img -m run/last.safetensors -o out.tif", DATA,
        ["run/last.safetensors", '"hyperatom-checkpoint"', 'expected "hyperatom"']),
    Bad("model: a run without one", CLASSIFY, DATA, [MODEL, "no such file", "train --resume run"],
        remove(MODEL)),
    Bad("model: a folder without one", "classify scene.img -m new -o out.tif", DATA,
        ["new/model.safetensors", "no such file"], subfolder("new")),
    Bad("resume: not there", "train --resume nowhere", DATA,
        ["nowhere/args.json", "args.json of a run"]),
    Bad("resume: no run", "train --resume new", DATA, ["new/args.json", "args.json of a run"],
        subfolder("new")),
    Bad("resume: args are damaged", "train --resume run", DATA,
        ["run/args.json", "args.json of a run"],
        cut("run/args.json", -9)),
    Bad("resume: args of another version", "train --resume run", DATA,
        ["run/args.json", "schema 99", "reads 2"],
        edit("run/args.json", lambda args: args.update(schema=99))),
    Bad("resume: an option out of range", "train --resume run", DATA,
        ["run/args.json", "batch", "at least 1", "0"],
        edit("run/args.json", lambda args: args["options"].update(batch=0))),
    Bad("resume: a damaged checkpoint", "train --resume run", DATA,
        ["run/last.safetensors", "damaged"], flip("run/last.safetensors", -100)),
    Bad("resume: the scene is gone", "train --resume run", DATA, ["scene.img", "no such file"],
        edit("run/args.json", lambda args: args["inputs"].update(scene="gone/scene.img"))),
    Bad("resume: another split", "train --resume run", DATA, ["split.json", "another split"],
        edit("run/args.json", lambda args: args["inputs"].update(split="")),
        theme="Irreproducible numbers"),
    Bad("resume: other samples", "train --resume run", DATA,
        ["run/last.safetensors", "other training samples"],
        edit("run/args.json", lambda args: args["inputs"].update(normalize="standard")),
        theme="Irreproducible numbers"),
]

# ---- Tunings and comparisons to go on with


def damaged(name: str, **fields: object) -> Maker:
    """args.json of the folder with other values in what only its verb knows."""
    return edit(f"{name}/args.json", lambda args: args["more"].update(fields))


CELL, OTHER_CELL = "compared/split-1/svm-l", "compared/split-1/src-l1-l"
OWN_SPLIT = "compared/split-1/split.json"
COMPARED_ANEW = all_of(*(remove(f"{cell}/{name}") for cell in (CELL, OTHER_CELL)
                         for name in ("cell.json", "trials.jsonl")))
RESUMED = [
    Bad("tune resume: not there", "tune --resume nowhere", DATA,
        ["nowhere/args.json", "args.json of a tuning"]),
    Bad("tune resume: no tuning", "tune --resume new", DATA,
        ["new/args.json", "args.json of a tuning"], subfolder("new")),
    Bad("tune resume: a run", "tune --resume run", DATA, ["run/args.json", "not", "a tuning"]),
    Bad("tune resume: a comparison", "tune --resume compared", DATA,
        ["compared/args.json", "not", "a tuning"]),
    Bad("train resume: a tuning", "train --resume tuned", DATA,
        ["tuned/args.json", "not", "a run"]),
    Bad("tune resume: args are cut", "tune --resume tuned", DATA,
        ["tuned/args.json", "a tuning"], cut("tuned/args.json", -9)),
    Bad("tune resume: args of another version", "tune --resume tuned", DATA,
        ["tuned/args.json", "schema 1", "reads 2"],
        edit("tuned/args.json", lambda args: args.update(schema=1))),
    Bad("tune resume: an option out of range", "tune --resume tuned", DATA,
        ["tuned/args.json", "cost", "greater than 0"],
        edit("tuned/args.json", lambda args: args["options"].update(cost=0))),
    Bad("tune resume: nothing of its own", "tune --resume tuned", DATA, ["tuned/args.json"],
        edit("tuned/args.json", lambda args: args.pop("more"))),
    Bad("tune resume: no list of what was given", "tune --resume tuned", DATA,
        ["tuned/args.json"], edit("tuned/args.json", lambda args: args.pop("given"))),
    Bad("tune resume: one fold", "tune --resume tuned", DATA,
        ["tuned/args.json", "folds", "at least 2"], damaged("tuned", folds=1)),
    Bad("tune resume: buffer alone", "tune --resume tuned", DATA, ["tuned/args.json", "buffer"],
        damaged("tuned", **{"fold-buffer": 3})),
    Bad("tune resume: a grid of nonsense", "tune --resume tuned", DATA,
        ["tuned/args.json", "nonsense"], damaged("tuned", grid=["nonsense"])),
    Bad("tune resume: an unknown key", "tune --resume tuned", DATA,
        ["tuned/args.json", "colour"], damaged("tuned", colour=1)),
    Bad("tune resume: the scene is gone", "tune --resume tuned", DATA,
        ["gone/scene.img", "no such file"],
        edit("tuned/args.json", lambda args: args["inputs"].update(scene="gone/scene.img"))),
    Bad("tune resume: another scene", "tune --resume tuned", DATA,
        ["tuned/trials.jsonl", "not the trials of this tuning"],
        edit("tuned/args.json", lambda args: args["inputs"].update(scene="scene.img",
                                                                   normalize="standard")),
        theme="Irreproducible numbers"),
    Bad("tune resume: trials of another tuning", "tune --resume tuned", DATA,
        ["tuned/trials.jsonl", "not the trials of this tuning"],
        copy(f"{OTHER_CELL}/trials.jsonl", "tuned/trials.jsonl")),
    Bad("tune resume: trials are text", "tune --resume tuned", DATA,
        ["tuned/trials.jsonl", "not the trials of this tuning"],
        write("tuned/trials.jsonl", "rank,cost\n1,2\n")),
    Bad("tune resume: a line that is no trial", "tune --resume tuned", DATA,
        ["tuned/trials.jsonl", "no trial", '{"candidate":0}'],
        append("tuned/trials.jsonl", '{"candidate":0}\n')),
    Bad("tune resume: a trial with a class too few", "tune --resume tuned", DATA,
        ["tuned/trials.jsonl"], replace("tuned/trials.jsonl", r'"right":\[\d+,', '"right":[')),
    Bad("tune resume: more right than there are", "tune --resume tuned", DATA,
        ["tuned/trials.jsonl"], replace("tuned/trials.jsonl", r'"right":\[', '"right":[9')),
    Bad("compare resume: not there", "compare --resume nowhere", DATA,
        ["nowhere/args.json", "args.json of a comparison"]),
    Bad("compare resume: no comparison", "compare --resume new", DATA,
        ["new/args.json", "args.json of a comparison"], subfolder("new")),
    Bad("compare resume: a tuning", "compare --resume tuned", DATA,
        ["tuned/args.json", "not", "a comparison"]),
    Bad("compare resume: a run", "compare --resume run", DATA,
        ["run/args.json", "not", "a comparison"]),
    Bad("compare resume: one cell", f"compare --resume {CELL}", DATA,
        [f"{CELL}/args.json", "a comparison"]),
    Bad("compare resume: args are cut", "compare --resume compared", DATA,
        ["compared/args.json", "a comparison"], cut("compared/args.json", -9)),
    Bad("compare resume: nothing of its own", "compare --resume compared", DATA,
        ["compared/args.json"], edit("compared/args.json", lambda args: args.pop("more"))),
    Bad("compare resume: no repeats", "compare --resume compared", DATA,
        ["compared/args.json", "repeats"], damaged("compared", repeats=0)),
    Bad("compare resume: more repeats than splits", "compare --resume compared", DATA,
        ["compared/split-3/split.json", "no such file"], damaged("compared", repeats=3)),
    Bad("compare resume: unknown method", "compare --resume compared", DATA,
        ["compared/args.json", "'svm'"], damaged("compared", methods=["svm"])),
    Bad("compare resume: no method", "compare --resume compared", DATA,
        ["compared/args.json", "methods"], damaged("compared", methods=[])),
    Bad("compare resume: unknown paper", "compare --resume compared", DATA,
        ["compared/args.json", "'salinas'"], damaged("compared", paper="salinas")),
    Bad("compare resume: one fold", "compare --resume compared", DATA,
        ["compared/args.json", "folds", "at least 2"], damaged("compared", folds=1)),
    Bad("compare resume: the scene is gone", "compare --resume compared", DATA,
        ["gone/scene.img", "no such file"],
        edit("compared/args.json", lambda args: args["inputs"].update(scene="gone/scene.img"))),
    Bad("compare resume: a cell is cut", "compare --resume compared", DATA,
        [f"{CELL}/cell.json", "no result of a comparison"], cut(f"{CELL}/cell.json", -9)),
    Bad("compare resume: a later cell is cut", "compare --resume compared", DATA,
        [f"{OTHER_CELL}/cell.json", "no result of a comparison"],
        cut(f"{OTHER_CELL}/cell.json", -9)),
    Bad("compare resume: a cell is empty", "compare --resume compared", DATA,
        [f"{CELL}/cell.json", "no result of a comparison"], write(f"{CELL}/cell.json")),
    Bad("compare resume: a cell without a number", "compare --resume compared", DATA,
        [f"{CELL}/cell.json", "no result of a comparison"],
        edit(f"{CELL}/cell.json", lambda cell: cell.pop("overall"))),
    Bad("compare resume: a cell of another method", "compare --resume compared", DATA,
        [f"{CELL}/cell.json"], copy(f"{OTHER_CELL}/cell.json", f"{CELL}/cell.json"),
        theme="Irreproducible numbers"),
    Bad("compare resume: a cell of another split", "compare --resume compared", DATA,
        [f"{CELL}/cell.json"], copy("compared/split-2/svm-l/cell.json", f"{CELL}/cell.json")),
    Bad("compare resume: trials of another tuning", "compare --resume compared", DATA,
        [f"{CELL}/trials.jsonl", "not the trials of this tuning"],
        all_of(remove(f"{CELL}/cell.json"),
               copy(f"{OTHER_CELL}/trials.jsonl", f"{CELL}/trials.jsonl"))),
    Bad("compare resume: a split is gone", "compare --resume compared", DATA,
        [OWN_SPLIT, "no such file"], remove(OWN_SPLIT)),
    Bad("compare resume: a split is cut", "compare --resume compared", DATA,
        [OWN_SPLIT, "not a split file"], cut(OWN_SPLIT, -20)),
    Bad("compare resume: a split is tampered with", "compare --resume compared", DATA,
        [OWN_SPLIT, "don't match its sha256"],
        edit(OWN_SPLIT, lambda split: split["train"].pop()), theme="Irreproducible numbers"),
    Bad("compare resume: a split of another size", "compare --resume compared", DATA,
        [OWN_SPLIT, "48 x 12", "24 x 24"],
        all_of(COMPARED_ANEW, rehash(OWN_SPLIT, rows=48, cols=12))),
    Bad("compare resume: a split of a larger scene", "compare --resume compared", DATA,
        [OWN_SPLIT, "1000 x 1000", "24 x 24"],
        all_of(COMPARED_ANEW, rehash(OWN_SPLIT, rows=1000, cols=1000, train=[999999]))),
    Bad("compare resume: a split of unlabelled pixels", "compare --resume compared", DATA,
        [OWN_SPLIT, "pixel 0,0 has no label"],
        all_of(COMPARED_ANEW, rehash(OWN_SPLIT, train=[0, 1], test=[300]))),
    Bad("compare resume: a split of nothing", "compare --resume compared", DATA,
        [OWN_SPLIT, "no training pixel"], all_of(COMPARED_ANEW, rehash(OWN_SPLIT, train=[]))),
    Bad("model: of a tuning", "classify scene.img -m tuned -o out.tif", DATA,
        ["tuned/model.safetensors", "no such file"]),
    Bad("model: of a comparison", "classify scene.img -m compared -o out.tif", DATA,
        ["compared/model.safetensors", "no such file"]),
    Bad("model: of a damaged cell", f"classify scene.img -m {CELL} -o out.tif", DATA,
        [f"{CELL}/model.safetensors", "damaged"], flip(f"{CELL}/model.safetensors", -100)),
]

# ---- Outputs

OUTPUTS = [
    Bad("exists: map", "classify scene.img -m run -o map.tif", RESOURCES,
        ["map.tif: exists", "--overwrite"]),
    Bad("exists: scores", f"{CLASSIFY} --scores map.tif", RESOURCES, ["map.tif: exists"]),
    Bad("exists: confidence", f"{CLASSIFY} --confidence map.tif", RESOURCES, ["map.tif: exists"]),
    Bad("exists: a companion", "classify scene.img -m run -o out.tif --of ENVI", RESOURCES,
        ["out.hdr: exists", "--overwrite"], write("out.hdr", "mine")),
    Bad("exists: split", "split labels.tif --train 9 -o split.json", RESOURCES,
        ["split.json: exists", "--overwrite"]),
    Bad("exists: run", f"{TRAIN[:-3]} run {SETTINGS}", RESOURCES,
        ["run: holds a run", "--overwrite", "--resume"]),
    Bad("exists: tuning", f"{TUNE[:-3]} tuned", RESOURCES,
        ["tuned: holds", "--overwrite", "--resume"]),
    Bad("exists: comparison", f"{COMPARE[:-3]} compared", RESOURCES,
        ["compared: holds", "--overwrite", "--resume"]),
    Bad("exists: scene of synth", "synth -o scene.img --labels new.tif", RESOURCES,
        ["scene.img: exists", "--overwrite"]),
    Bad("exists: labels of synth", "synth -o new.img --labels labels.tif", RESOURCES,
        ["labels.tif: exists", "--overwrite"]),
    Bad("exists: demo", "demo -o .", RESOURCES, ["scene.img: exists", "--overwrite"]),
    Bad("exists: last file of demo", "demo -o new", RESOURCES, ["new/map.png: exists"],
        write("new/map.png", "mine")),
    Bad("exists: metrics", f"{EVALUATE} -o run", RESOURCES,
        ["run/metrics.json: exists", "--overwrite"]),
    Bad("run folder: files of others", f"{TRAIN} {SETTINGS}", RESOURCES,
        ["new: is not empty", "expected a new or empty folder"], write("new/thesis.txt", "mine")),
    Bad("run folder: files of others, overwritten", f"{TRAIN} {SETTINGS} --overwrite", RESOURCES,
        ["new: is not empty", "expected a new or empty folder"], write("new/thesis.txt", "mine")),
    Bad("tuning folder: files of others", f"{TUNE} --overwrite", RESOURCES,
        ["new: is not empty", "expected a new or empty folder"], write("new/thesis.txt", "mine")),
    Bad("tuning folder: a file", TUNE, RESOURCES, ["new: exists", "no folder"],
        write("new", "mine")),
    Bad("comparison folder: files of others", f"{COMPARE} --overwrite", RESOURCES,
        ["new: is not empty", "expected a new or empty folder"], write("new/thesis.txt", "mine")),
    Bad("comparison folder: below a file", f"{COMPARE[:-3]} labels.tif/new", RESOURCES,
        ["labels.tif/new", "no folder"]),
    Bad("run folder: a file", f"{TRAIN} {SETTINGS}", RESOURCES, ["new: exists", "no folder"],
        write("new", "mine")),
    Bad("run folder: below a file", f"{TRAIN[:-3]} labels.tif/new {SETTINGS}", RESOURCES,
        ["labels.tif/new", "no folder"]),
    Bad("run folder: name too long", f"{TRAIN[:-3]} {LONG} {SETTINGS}", RESOURCES,
        [LONG, "File name too long"]),
    Bad("no folder: map", "classify scene.img -m run -o new/map.tif", RESOURCES,
        ["new/map.tif", "no folder new"]),
    Bad("no folder: confidence", f"{CLASSIFY} --confidence new/c.tif", RESOURCES,
        ["new/c.tif", "no folder new"]),
    Bad("no folder: split", "split labels.tif --train 9 -o new/split.json", RESOURCES,
        ["new/split.json", "no folder new"]),
    Bad("no folder: labels of synth", "synth -o s.img --labels new/l.tif", RESOURCES,
        ["new/l.tif", "no folder new"]),
    Bad("below a file: map", "classify scene.img -m run -o labels.tif/map.tif", RESOURCES,
        ["labels.tif/map.tif", "no folder labels.tif"]),
    Bad("below a file: metrics", f"{EVALUATE} -o labels.tif/new", RESOURCES, ["labels.tif/new"]),
    Bad("below a file: demo", "demo -o labels.tif", RESOURCES, ["labels.tif", "no folder"]),
    Bad("no place to write: map", "classify scene.img -m run -o /proc/map.tif", RESOURCES,
        ["/proc/map.tif", "can't be written"]),
    Bad("no place to write: split", "split labels.tif --train 9 -o /proc/split.json", RESOURCES,
        ["/proc/split.json", "can't be written"]),
    Bad("no place to write: run", f"{TRAIN[:-3]} /proc/new {SETTINGS}", RESOURCES,
        ["/proc/new", "can't be made"]),
    Bad("a folder: map", "classify scene.img -m run -o run --overwrite", RESOURCES,
        ["run", "Is a directory"]),
    Bad("a folder: split", "split labels.tif --train 9 -o run --overwrite", RESOURCES,
        ["run", "Is a directory"]),
    Bad("a device: map", "classify scene.img -m run -o /dev/full --overwrite", RESOURCES,
        ["/dev/full", "not a regular file"]),
    Bad("name too long: metrics", f"{EVALUATE} -o new/{LONG}", RESOURCES,
        [f"new/{LONG}", "File name too long"]),
    Bad("name too long: map", f"classify scene.img -m run -o {LONG}", RESOURCES, [LONG]),
    Bad("disk full: map", "classify scene.img -m run -o map.tif --overwrite", RESOURCES,
        ["map.tif: can't be written"], largest_file=1000),
    Bad("disk full: ENVI map", f"{CLASSIFY} --of ENVI", RESOURCES, ["out.tif: can't be written"],
        largest_file=300),
    Bad("disk full: scores", "classify scene.img -m run -o map.tif --overwrite --scores s.tif"
        " --confidence c.tif", RESOURCES, ["s.tif: can't be written"], largest_file=4000),
    Bad("disk full: scene", "synth -o scene.img --labels labels.tif --classes 3 --overwrite",
        RESOURCES, ["scene.img: can't be written"], largest_file=30000),
    Bad("disk full: split", "split labels.tif --train 9 -o split.json --overwrite", RESOURCES,
        ["split.json: can't be written"], largest_file=500),
    Bad("disk full: run", f"{TRAIN} {SETTINGS}", RESOURCES, ["new/args.json: can't be written"],
        largest_file=100),
    Bad("disk full: tuning", TUNE, RESOURCES, ["new/args.json: can't be written"],
        largest_file=100),
    Bad("disk full: comparison", COMPARE, RESOURCES,
        ["new/split-1/split.json: can't be written"], largest_file=100),
    Bad("disk full: metrics", f"{EVALUATE} -o a/b", RESOURCES, ["a/b/", "can't be written"],
        largest_file=50),
    Bad("disk full: demo", "demo -o new", RESOURCES, ["new/scene.img: can't be written"],
        largest_file=10000),
    Bad("stdout full: info", "info scene.img", RESOURCES, ["standard output can't be written"],
        stdout="/dev/full"),
    Bad("stdout full: JSON", f"{EVALUATE} --json", RESOURCES, ["standard output can't be written"],
        stdout="/dev/full"),
    Bad("stdout full: help", "classify --help", RESOURCES, ["standard output can't be written"],
        stdout="/dev/full"),
    Bad("old run stays: labels", f"{TRAIN[:-3]} run --overwrite --split nowhere.json {SETTINGS}",
        DATA, ["nowhere.json", "no such file"]),
    Bad("old tuning stays: labels", f"{TUNE[:-3].replace('labels.tif', 'nowhere.tif')} tuned"
        " --overwrite", DATA, ["nowhere.tif", "no such file"]),
    Bad("old comparison stays: labels",
        f"{COMPARE[:-3].replace('labels.tif', 'nowhere.tif')} compared --overwrite", DATA,
        ["nowhere.tif", "no such file"]),
    Bad("old map stays: model", "classify scene.img -m nowhere -o map.tif --overwrite", DATA,
        ["nowhere", "No such file"]),
    Bad("old map stays: scene", "classify new.tif -m run -o map.tif --overwrite", DATA,
        ["new.tif", "can't be read"], all_of(geotiff("new.tif"), cut("new.tif", -100))),
]

# ---- Ctrl-C

INTERRUPTS = [
    Bad("interrupted: info", "info new.img", STOPPED, ["interrupted"], tall_scene("new.img"),
        interrupt=True),
    Bad("interrupted: synth", "synth -o scene.img --labels labels.tif --rows 2000 --cols 400"
        " --overwrite", STOPPED, ["interrupted"], interrupt=True),
    Bad("interrupted: classify", "classify new.img -m run -o map.tif --ram 1 --overwrite", STOPPED,
        ["interrupted"], tall_scene("new.img"), interrupt=True),
    Bad("interrupted: train, nothing made yet", TRAIN, STOPPED, ["interrupted"], interrupt=True),
    Bad("interrupted: train, old run stays", f"{TRAIN[:-3]} run --overwrite", STOPPED,
        ["interrupted"], interrupt=True),
    Bad("interrupted: demo", "demo -o new", STOPPED, ["interrupted"], interrupt=True),
]

BAD = [*COMMAND_LINE, *VALUES, *CONTRADICTIONS, *SCENES, *LABELS, *SPLITS, *MODELS, *RESUMED,
       *OUTPUTS, *INTERRUPTS]


def slug(name: str) -> str:
    return re.sub(r"[^\w.]+", "-", name).strip("-")


def by_name(entry: Any) -> str:
    return slug(entry.name)


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good") / "folder"
    make_good_folder(folder)
    return folder


@pytest.fixture
def folder(good: Path, tmp_path: Path) -> Iterator[Path]:
    yield copy_of(good, tmp_path / "folder")
    shutil.rmtree(tmp_path)  # hundreds of them would take long to clear away later


@pytest.mark.parametrize("bad", BAD, ids=by_name)
def test_bad_input(bad: Bad, folder: Path) -> None:
    bad.make(folder)
    before = snapshot(folder)
    outcome = run(folder, bad.line, largest_file=bad.largest_file, stdout=bad.stdout,
                  interrupt=bad.interrupt)
    told = f"$ hyperatom {bad.line}\n{outcome.stderr}"
    assert outcome.code == bad.code, told
    lines = outcome.stderr.splitlines()
    errors = [line for line in lines if line.startswith("hyperatom: ")]
    assert len(errors) == 1 and (bad.help or lines[-1] == errors[0]), told
    for piece in bad.says:
        assert piece in errors[0], told
    for crash in ("hyperatom: unexpected:", "terminate called", "Sanitizer", "Traceback"):
        assert crash not in outcome.stderr, told
    assert outcome.stdout == "", told
    assert snapshot(folder) == before, told


# ---- Odd, but fine


@dataclass(frozen=True)
class Odd:
    name: str
    lines: list[str]  # all end with exit code 0
    says: list[str]  # pieces of what they print, on stdout and stderr
    make: Maker = nothing
    theme: str = ""
    check: Callable[[Path], None] = nothing


def set_pixels(place: Any, value: float) -> Maker:
    return change_scene(lambda cube: cube.__setitem__(place, value))


def thin_scene(axis: int) -> Maker:
    """One row or column of the scene, with labels in new.tif."""
    def make(folder: Path) -> None:
        change_scene(lambda cube: cube.take([7], axis))(folder)
        labels = label_values(folder).take([7], axis)
        labels.flat[2:9], labels.flat[12:19] = 1, 2
        raster("new.tif", labels)(folder)

    return make


def values(path: Path) -> np.ndarray:
    return gdal.Open(str(path)).ReadAsArray()


def same_map(folder: Path) -> None:
    assert np.array_equal(values(folder / "out.tif"), values(folder / "map.tif"))


def nothing_classified(folder: Path) -> None:
    assert not values(folder / "out.tif").any()


def no_nan_in_map(folder: Path) -> None:
    """Only the pixels that were spoilt are lost."""
    was, now = values(folder / "map.tif"), values(folder / "out.tif")
    assert not now[10:12, 10:12].any()
    now[10:12, 10:12] = was[10:12, 10:12]
    assert np.array_equal(was > 0, now > 0)


def placed_like_the_scene(folder: Path) -> None:
    scene, made = gdal.Open(str(folder / "scene.img")), gdal.Open(str(folder / "map.tif"))
    assert made.GetGeoTransform() == scene.GetGeoTransform() == TRANSFORM
    assert made.GetSpatialRef().IsSame(scene.GetSpatialRef())
    assert made.GetRasterBand(1).GetNoDataValue() == 0


def confidence_is_a_share(folder: Path) -> None:
    confidence, classes = values(folder / "c.tif"), values(folder / "out.tif")
    assert np.array_equal(np.isnan(confidence), classes == 0)
    assert 0 <= np.nanmin(confidence) <= np.nanmax(confidence) <= 1


def has_model(folder: Path) -> None:
    assert (folder / "new/model.safetensors").exists()


ON_LABELS = f"{TRAIN} {SETTINGS}"
NO_NOISE = "pixels are scaled to length 1 instead"
MAP_OF_NEW = "classify scene.img -m new -o out.tif"
OWN_LABELS = f"{TRAIN_ON} new.tif"

ODD = [
    Odd("class of one pixel", [OWN_LABELS, MAP_OF_NEW],
        ["warning: class 9 (class 9) has only 1 training pixel"],
        change_labels(put(9)), theme="Tiny classes"),
    Odd("class of one pixel, split by a ratio", ["split new.tif --fraction 0.1 -o new.json"],
        ["class 9 (class 9) has 1 labelled pixels: 1 for training, 0 for testing"],
        change_labels(put(9)), theme="Tiny classes"),
    Odd("class smaller than asked for", [f"{SPLIT} --per-class 50"],
        ["has only", "training pixels, not 50"], theme="Tiny classes"),
    Odd("largest class number", [OWN_LABELS, MAP_OF_NEW], ["4 classes"], change_labels(put(65535))),
    Odd("labels without a place", [OWN_LABELS], ["421 pixels"],
        change_labels(lambda labels: None, crs=None, transform=None)),
    Odd("labels on pixels that can't be used", [ON_LABELS],
        ["4 training pixels can't be used", "417 pixels"],
        set_pixels(np.s_[10:12, 10:12, 3], np.nan), theme="Masks"),
    Odd("NaN in some pixels", [CLASSIFY], ["516 pixels classified, 60 left out"],
        set_pixels(np.s_[10:12, 10:12, 3], np.nan), theme="Speed / no-data", check=no_nan_in_map),
    Odd("nothing to classify", [CLASSIFY], ["warning", "scene.img", "no pixel can be used"],
        change_scene(lambda cube: cube.fill(-9999)), theme="Speed / no-data",
        check=nothing_classified),
    Odd("all masked", [f"{CLASSIFY} --mask new.tif"], ["warning", "no pixel can be used", "masked"],
        mask("new.tif", value=0), theme="Masks", check=nothing_classified),
    Odd("band that is constant",
        ["info scene.img", f"{ON_LABELS} --normalize standard", MAP_OF_NEW],
        ["the same in all pixels: 4"], set_pixels(np.s_[:, :, 3], 0.25)),
    Odd("all pixels the same", [f"{ON_LABELS} --normalize standard", MAP_OF_NEW], ["421 pixels"],
        change_scene(lambda cube: cube.fill(0.5))),
    Odd("scene of one row", [OWN_LABELS, MAP_OF_NEW], ["trained on", NO_NOISE], thin_scene(0)),
    Odd("scene of one column", [OWN_LABELS, MAP_OF_NEW], ["trained on", NO_NOISE], thin_scene(1)),
    Odd("window larger than the scene", [f"{SPLIT_TRAIN} --window 600"], ["window 600"],
        check=has_model),
    Odd("more atoms than pixels", [f"{SPLIT_TRAIN} --atoms-per-class 1000"],
        ["has only 10 training pixels", "30 atoms"], check=has_model),
    Odd("duplicate pixels", [ON_LABELS, MAP_OF_NEW], ["trained on"],
        change_scene(lambda cube: cube[8:14, 8:14].repeat(4, 0).repeat(4, 1))),
    Odd("negative values", [ON_LABELS, MAP_OF_NEW], ["421 pixels"],
        change_scene(lambda cube: -cube)),
    Odd("huge values", [f"{ON_LABELS} --normalize standard", MAP_OF_NEW], ["421 pixels"],
        change_scene(lambda cube: 1e30 * cube)),
    Odd("tiny values", [ON_LABELS, MAP_OF_NEW], ["421 pixels"],
        change_scene(lambda cube: 1e-30 * cube)),
    Odd("no-data value that the header names", ["info scene.img"],
        ["no-data -9999", "520 usable pixels, 56 not"], theme="No-data conventions"),
    Odd("no-data value in one band only", ["info scene.img"], ["519 usable pixels, 57 not"],
        set_pixels(np.s_[12, 12, 5], -9999), theme="No-data conventions"),
    Odd("ENVI: empty fields", ["info scene.img"], ["12 bands", "520 usable pixels"],
        header(bbl="{}", sensor_type="", default_bands="", major_frame_offsets="{0, 0}"),
        theme="ENVI headers"),
    Odd("ENVI: bad bands", ["info scene.img"], ["10 bands", "2 of 12 bands are marked bad"],
        header(bbl="{1,1,1,1,0,0,1,1,1,1,1,1}"), theme="ENVI headers"),
    Odd("npy: Fortran order, big-endian", ["info new.npy"], ["24 x 24 pixels", "12 bands"],
        npy("new.npy", lambda cube: np.asfortranarray(cube.astype(">f4")))),
    Odd("mat 7.3", ["classify new.mat -m run -o new.tif --mask labels.tif"],
        ["421 pixels classified", "bands are matched by their order"], mat73("new.mat"),
        theme="`.mat` v7.3"),
    Odd("fields partly outside", [f"{TRAIN_ON} new.geojson --class-field crop"],
        ["1 feature lies partly outside the scene"],
        polygons("new.geojson", [*FIELDS, ("corn", 3, square(20, 20, 9))])),
    Odd("fields on top of each other", [f"{TRAIN_ON} new.geojson --class-field crop"],
        ["9 pixels are claimed by features of different classes"],
        polygons("new.geojson", [*FIELDS, ("oats", 3, square(9, 9, 6))])),
    Odd("fields without a CRS, by request",
        [f"{TRAIN_ON} new.shp --class-field crop --label-crs scene"], ["2 classes"],
        shapefile("new.shp")),
    Odd("map has the scene's place", ["info map.tif"], ["UTM zone 33N"],
        theme="Georeference / GeoTIFF out", check=placed_like_the_scene),
    Odd("confidence", [f"{CLASSIFY} --confidence c.tif"], ["520 pixels"], theme="Uncertainty",
        check=confidence_is_a_share),
    Odd("threads", [f"{CLASSIFY} --threads 1", f"{CLASSIFY} --threads 3 --overwrite"],
        ["520 pixels"], theme="Parallelism backfires", check=same_map),
    Odd("leakage is told", [f"{EVALUATE} --split split.json"],
        ["of the test pixels have a training pixel in their window of 9"], theme="Leakage"),
    Odd("no leakage with blocks and a buffer", [
        "split labels.tif --per-class 5 --blocks 6 --buffer 2 -o new.json",
        f"{EVALUATE} --split new.json"], ["leakage: 0.00 %"], theme="Leakage"),
]


@pytest.mark.parametrize("odd", ODD, ids=by_name)
def test_odd_input(odd: Odd, folder: Path) -> None:
    odd.make(folder)
    before = snapshot(folder)
    told = ""
    for line in odd.lines:
        outcome = run(folder, line)
        told += f"$ hyperatom {line}\n{outcome.stderr}{outcome.stdout}"
        assert outcome.code == 0, told
        assert "nan" not in outcome.stdout, told
    for piece in odd.says:
        assert piece in told, told
    after = snapshot(folder)
    assert {name: after.get(name) for name in before} == before, told
    odd.check(folder)


# ---- What needs more than a command line

THEMES = {entry.theme for entry in [*BAD, *ODD] if entry.theme}


def answers(theme: str) -> Callable[[Any], Any]:
    THEMES.add(theme)
    return lambda test: test


@answers("Memory")
@pytest.mark.usefixtures("slow")  # a sanitizer takes memory of its own
def test_memory_does_not_grow_with_the_scene(folder: Path) -> None:
    tall_scene("short.img", rows=1000)(folder)
    tall_scene("tall.img", rows=30000)(folder)  # 72 MB
    short = peak_memory(folder, "classify short.img -m run --ram 8 -o short.tif")
    tall = peak_memory(folder, "classify tall.img -m run --ram 8 -o tall.tif")
    assert tall - short < 24e6, f"{short / 1e6:.0f} MB for 1,000 rows, {tall / 1e6:.0f} for 30,000"


@answers("Install")
def test_command_needs_no_environment(folder: Path) -> None:
    done = subprocess.run([BINARY, "info", "scene.img"], cwd=folder, env={}, capture_output=True,
                          check=True)
    assert b"24 x 24 pixels" in done.stdout and done.stderr == b""


@pytest.mark.parametrize("stderr", ["full", "closed"])
def test_nobody_listens(folder: Path, stderr: str) -> None:
    """The exit code tells, whatever becomes of the message."""
    redirect = {"full": "2>/dev/full", "closed": "2>&-"}[stderr]
    for line, code in [("info nowhere.img", DATA), (f"{TRAIN} {SETTINGS}", 0),
                       (f"{CLASSIFY} 1>&-", RESOURCES)]:
        done = subprocess.run(["sh", "-c", f'"$0" {line} {redirect}', BINARY], cwd=folder,
                              stdout=subprocess.DEVNULL, check=False)
        assert done.returncode == code
    has_model(folder)
    same_map(folder)


def test_training_on_a_full_disk_goes_on(folder: Path) -> None:
    whole = run(folder, SPLIT_TRAIN.replace("-o new", "-o whole"))
    assert whole.code == 0
    failed = run(folder, SPLIT_TRAIN, largest_file=4000)
    assert failed.code == RESOURCES
    assert "hyperatom: new/last.safetensors: can't be written" in failed.stderr
    assert set(os.listdir(folder / "new")) == {"args.json", "log.txt", "results.csv", "split.json"}
    assert run(folder, "train --resume new").code == 0
    assert snapshot(folder / "new").keys() == snapshot(folder / "whole").keys()
    assert snapshot(folder / "new")["metrics.json"] == snapshot(folder / "whole")["metrics.json"]


def test_training_that_diverges(folder: Path) -> None:
    outcome = run(folder, f"{TRAIN} {SETTINGS} --optimizer sgd --rho 1e10 --ball 1e300"
                          " --normalize none")
    assert outcome.code == NUMERICAL
    assert outcome.stderr.splitlines()[-1].startswith("hyperatom: training diverged at step")
    assert "rho" in outcome.stderr.splitlines()[-1]
    assert outcome.stdout == "" and not (folder / "new/model.safetensors").exists()


@answers("Irreproducible numbers")
def test_the_same_command_gives_the_same_numbers(folder: Path) -> None:
    before = snapshot(folder / "run")
    assert run(folder, SPLIT_TRAIN).code == 0
    after = snapshot(folder / "new")
    for file in ("results.csv", "metrics.json", "confusion.csv", "per_class.csv", "split.json"):
        assert after[file] == before[file]


@answers("Which run is reported?")
def test_numbers_say_what_they_are_of(folder: Path) -> None:
    metrics = json.loads((folder / "run/metrics.json").read_text())
    split = json.loads((folder / "split.json").read_text())
    args = json.loads((folder / "run/args.json").read_text())
    assert metrics["split"]["sha256"] == split["sha256"]
    assert metrics["pixels"] == len(split["test"])
    assert args["command"][0] == "train" and "seed" in args["options"]


@answers("Normalisation")
def test_normalisation_is_not_refitted(folder: Path) -> None:
    """Other pixels in the scene to classify don't change a pixel's class."""
    assert run(folder, f"{TRAIN} {SETTINGS} --normalize standard --method sdl-l1-k").code == 0
    assert run(folder, "classify scene.img -m new -o whole.tif").code == 0
    set_pixels(np.s_[12:], 5.0)(folder)
    assert run(folder, "classify scene.img -m new -o half.tif").code == 0
    whole, half = values(folder / "whole.tif"), values(folder / "half.tif")
    assert np.array_equal(whole[:12], half[:12]) and not np.array_equal(whole[12:], half[12:])


def test_every_theme_of_the_docs_is_answered() -> None:
    page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    table = page.split("## What users complain about")[1]
    rows = re.findall(r"^\| ([^|]+?) \|", table, flags=re.M)
    themes = [row for row in rows if row != "theme" and not set(row) <= set("-: ")]
    assert len(themes) == 16
    assert set(themes) == THEMES
