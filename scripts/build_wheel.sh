#!/usr/bin/env bash
# Builds the Python package into build/dist. The interpreter is PYTHON (default: python3): with 3.12 or later, the wheel
# serves all later versions. JOBS sets the parallelism (default: nproc).
set -euo pipefail
cd "$(dirname "$0")/.."

venv="build/venv-wheel"
[[ -x $venv/bin/pip ]] || "${PYTHON:-python3}" -m venv "$venv"
rm -rf build/dist
CMAKE_BUILD_PARALLEL_LEVEL="${JOBS:-$(nproc)}" CMAKE_ARGS=-DHYPERATOM_WERROR=ON \
  "$venv/bin/pip" --disable-pip-version-check wheel --quiet --no-deps --wheel-dir build/dist .
ls build/dist/*.whl
