#!/usr/bin/env bash
# Makes reports for the tests of the viewer: of the demo, whole and with little room, its map against its labels, all
# methods on its scene, of a scene whose names are attacks and, where the data are, of Indian Pines; beside those of a
# model, what `explain --json` says of two pixels. Prints their paths, set apart by colons.
# Usage: scripts/make_reports.sh COMMAND FOLDER
set -euo pipefail
hyperatom=$(realpath "$1") folder=$2 scripts=$(realpath "$(dirname "$0")")
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
"$hyperatom" report demo/scene.img -m demo/run -o demo-reduced.html --max-mb 1.5 --overwrite --quiet >/dev/null
cp demo.explain.json demo-reduced.explain.json
"$hyperatom" evaluate demo/map.tif --labels demo/labels.tif --split demo/split.json -o evaluated --report --overwrite --quiet >/dev/null
cp evaluated/report.html demo-evaluate.html
"$hyperatom" compare demo/scene.img --labels demo/labels.tif --per-class 10 --repeats 2 --grid lambda1=0.1 --epochs 5 \
  --paper indian-pines -o compared --report --overwrite --quiet >/dev/null
cp compared/report.html demo-compare.html
mapfile -t hostile < <("$scripts/make_hostile_scene.py" .)
"$hyperatom" split "${hostile[1]}" --scene "${hostile[0]}" --per-class 6 -o hostile-split.json --overwrite --quiet >/dev/null
"$hyperatom" train "${hostile[0]}" --labels "${hostile[1]}" --split hostile-split.json --epochs 2 --window 9 --normalize unit \
  --kernel 'gaussian(sigma=0.3)' -o hostile --overwrite --report --quiet >/dev/null
cp hostile/report.html hostile.html
reports=$(printf ":$PWD/%s.html" demo demo-reduced demo-evaluate demo-compare hostile)
if [[ -f $data/indian_pines.mat ]]; then
  "$hyperatom" train "$data/indian_pines.mat" --labels "$data/fixed_train_695.mat" --test-labels "$data/fixed_test_9671.mat" \
    --window 25 --epochs 30 --kernel 'gaussian(sigma=32)' -o ip --overwrite --report --quiet >/dev/null
  cp ip/report.html indian-pines.html
  explain indian-pines "$data/indian_pines.mat" ip
  reports+=:$PWD/indian-pines.html
fi
echo "${reports#:}"
