#!/usr/bin/env bash
# Makes reports for the tests of the viewer: of the demo and, where the data are, of Indian Pines; beside each, what
# `explain --json` says of two of its pixels. Prints their paths, set apart by colons.
# Usage: scripts/make_reports.sh COMMAND FOLDER
set -euo pipefail
hyperatom=$(realpath "$1") folder=$2
data="${HYPERATOM_DATA:-$(dirname "$0")/../../shared/data}/indian_pines"
[[ -d $data ]] && data=$(realpath "$data")
mkdir -p "$folder"
cd "$folder"

explain() {  # NAME SCENE RUN
  local name=$1 scene=$2 run=$3
  "$hyperatom" explain "$scene" -m "$run" --pixel 30,40 --json >first.json
  "$hyperatom" explain "$scene" -m "$run" --pixel 60,70 --json >second.json
  printf '[%s,%s]\n' "$(<first.json)" "$(<second.json)" >"$name.explain.json"
}

"$hyperatom" demo -o demo --overwrite --quiet >/dev/null
cp demo/run/report.html demo.html
explain demo demo/scene.img demo/run
reports=$PWD/demo.html
if [[ -f $data/indian_pines.mat ]]; then
  "$hyperatom" train "$data/indian_pines.mat" --labels "$data/fixed_train_695.mat" --test-labels "$data/fixed_test_9671.mat" \
    --window 25 --epochs 30 --kernel 'gaussian(sigma=32)' -o ip --overwrite --report --quiet >/dev/null
  cp ip/report.html indian-pines.html
  explain indian-pines "$data/indian_pines.mat" ip
  reports+=:$PWD/indian-pines.html
fi
echo "$reports"
