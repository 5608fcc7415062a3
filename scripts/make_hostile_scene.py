#!/usr/bin/python3
"""Writes a small scene whose names are attacks on a page that shows them: the fifty of
viewer/fixture/payloads.json are its classes, others its file and its coordinate system. Prints the
paths of scene and labels, one a line.
Usage: scripts/make_hostile_scene.py FOLDER"""

import json
import sys
from pathlib import Path

import numpy as np
from osgeo import gdal, osr

gdal.UseExceptions()
osr.UseExceptions()

PAYLOADS = Path(__file__).resolve().parent.parent / "viewer/fixture/payloads.json"
FILE = "<img src=x onerror=window.__pwned=1>.tif"
SYSTEM = "</script><script>window.__pwned=1</script>"
SIDE, BANDS = 10, 12  # a field of SIDE x SIDE pixels a class


def write(path: Path, planes: np.ndarray, names: list[str] | None) -> None:
    kind = gdal.GDT_Byte if names else gdal.GDT_Float32
    bands, rows, cols = planes.shape
    raster = gdal.GetDriverByName("GTiff").Create(str(path), cols, rows, bands, kind)
    system = osr.SpatialReference()
    system.SetProjCS(SYSTEM)
    system.SetWellKnownGeogCS("WGS84")
    # Of nobody: a known system would come back from a GeoTIFF with its own name.
    system.SetTM(0, 14.5, 1, 400000, 0)
    raster.SetProjection(system.ExportToWkt())
    raster.SetGeoTransform((500000, 20, 0, 5400000, 0, -20))
    for band, plane in enumerate(planes, 1):
        raster.GetRasterBand(band).WriteArray(plane)
    if names:
        raster.GetRasterBand(1).SetCategoryNames(["", *names])
    raster.FlushCache()


def main() -> None:
    folder = Path(sys.argv[1])
    names = json.loads(PAYLOADS.read_text())
    # Ten fields beside each other in every row of fields.
    number = np.arange(len(names)).reshape(-1, 10)
    fields = np.kron(number, np.ones((SIDE, SIDE), dtype=int))
    random = np.random.default_rng(7)
    spectra = random.uniform(0.1, 0.9, (len(names), BANDS))
    cube = spectra[fields].transpose(2, 0, 1) + random.normal(0, 0.3, (BANDS, *fields.shape))
    scene, labels = folder / FILE, folder / "hostile-labels.tif"
    write(scene, cube.astype(np.float32), None)
    write(labels, (fields + 1)[None].astype(np.uint8), names)
    print(scene, labels, sep="\n")


main()
