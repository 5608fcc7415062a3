"""The README's Python example, where nothing but the wheel and what it asks for is installed."""

import importlib.util
import re
import sys
from pathlib import Path

optional = ("dask", "geopandas", "osgeo", "rasterio", "rioxarray", "torch", "xarray")
there = [name for name in optional if importlib.util.find_spec(name)]
if there:
    sys.exit(f"bare_install: {', '.join(there)} installed: this environment shows nothing")
readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
examples = re.findall(r"```python\n(.*?)```", readme, re.S)
if len(examples) != 1:
    sys.exit(f"bare_install: found {len(examples)} Python examples in README.md, expected 1")
names: dict = {}
exec(compile(examples[0], "README.md", "exec"), names)
accuracy = names["classifier"].score(names["X_test"], names["y_test"])
if not accuracy > 0.85:
    sys.exit(f"bare_install: the README's example ends with an accuracy of {accuracy:.3f}")
if "hyperatom" not in sys.modules or "site-packages" not in sys.modules["hyperatom"].__file__:
    sys.exit("bare_install: hyperatom was not imported from the wheel")
print(f"bare_install: the README's example ran, accuracy {accuracy:.3f}")
