"""Your own ENVI cube and polygons, to a GeoTIFF that is written chunk by chunk. Needs `hyperatom[geo,dask]`.

Usage: own_scene.py SCENE POLYGONS CLASS_FIELD MAP.tif
"""

import sys

import hyperatom as ha

scene_path, polygons, class_field, map_path = sys.argv[1:]
scene = ha.read_scene(scene_path)
labels = ha.read_labels(polygons, scene, class_field=class_field)
train, test = ha.split(labels, fraction=0.5, blocks=8, random_state=0)
X, y, _ = ha.windows(scene, train, size=9)
classifier = ha.KernelTDDLClassifier(random_state=0).fit(X, y)
X_test, y_test, _ = ha.windows(scene, test, size=9)
print(f"{classifier.score(X_test, y_test):.4f} of {len(y_test)} test pixels, classes {labels.attrs['class_names']}")

# The scene is read again, piece by piece: this works for one that is larger than memory.
lazy = ha.predict_map(classifier, ha.read_scene(scene_path, chunks={"y": 256, "x": 256}))
lazy.rio.write_nodata(0).rio.to_raster(map_path, windowed=True)
