#!/usr/bin/env bash
# Runs the checks and tests, says what ran, and ends with the line "N passed, N failed, N skipped".
# Usage: scripts/test.sh [STAGE...]   check: the repository's own checks, each counted as one test;
#        python: the wheel, in a virtual environment with the newest packages from PyPI; pytest on
#        python/tests, beside the command of the preset dev;
#        viewer: types, style and tests of the page of reports, in Node.js and in Chromium;
#        any other stage is the CMake preset (dev, asan, tsan) to build and run ctest on, and
#        then pytest on tests/integration with the preset's command (without accuracy and benchmarks
#        where it is not dev).
#        Default: check dev viewer asan python. JOBS sets the parallelism (default: nproc).
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

checks=(
  "scripts/check_format.sh"
  "scripts/check_includes.py --self-test"
  "scripts/check_includes.py"
  "scripts/check_docs.py --self-test"
  "scripts/check_docs.py"
  "scripts/make_python_api.py --check"
  "scripts/summarize_tests.py --self-test"
)
jobs="${JOBS:-$(nproc)}"
results="$(mktemp -d)"  # read by summarize_tests.py, which explains the files
trap 'rm -rf "$results"' EXIT

record() { printf '%s\t%s\t%s\t%s\n' "$@" >>"$results/steps.tsv"; }  # stage, name, status, reason

run_checks() {
  local check command code
  for check in "${checks[@]}"; do
    read -r -a command <<<"$check"
    code=0
    "${command[@]}" >"$results/output" 2>&1 || code=$?
    cat "$results/output"
    case $code in
      0) record check "$check" passed "" ;;
      77) record check "$check" skipped "$(tail -n 1 "$results/output")" ;;
      *) record check "$check" failed "exit code $code" ;;
    esac
  done
}

# Returns non-zero only if there was nothing to test: failed tests are read from the JUnit files.
run_preset() {
  local preset=$1 code=0
  cmake --preset "$preset" && cmake --build --preset "$preset" --parallel "$jobs" || code=$?
  if ((code)); then
    record "$preset" "build of preset $preset" failed "exit code $code"
    return 1
  fi
  ctest --preset "$preset" --parallel "$jobs" --output-on-failure \
    --test-output-size-passed 65536 --output-junit "$results/$preset.ctest.xml" || code=$?
  echo "$code" >"$results/$preset.ctest.code"
  run_pytest "$preset"
}

# With the system's Python: another one does not see the packages of install_deps.sh.
run_pytest() {
  local preset=$1 code=0 tests=(tests/integration)
  # Accuracy and benchmarks are no matter of the sanitizers, under which they take minutes.
  [[ $preset == dev ]] || tests+=(--ignore=tests/integration/test_{tables,peers,scaling}.py
    --deselect=tests/integration/test_real_data.py::test_indian_pines_fixed_split)
  HYPERATOM_BIN="build/$preset/bin/hyperatom" /usr/bin/python3 -m pytest "${tests[@]}" \
    -n "$jobs" -q -p no:cacheprovider --junitxml "$results/$preset.pytest.xml" || code=$?
  echo "$code" >"$results/$preset.pytest.code"
}

# Runs and records one step of a stage.
run_step() {
  local stage=$1 name=$2 code=0
  shift 2
  "$@" || code=$?
  ((code)) && record "$stage" "$name" failed "exit code $code" && return 1
  record "$stage" "$name" passed ""
}

# The environment is empty but for the wheel when the README's example runs, then gets what tests need.
run_python() {
  local venv=build/venv-python code=0
  unset PYTHONDONTWRITEBYTECODE  # what is imported is compiled once, not by each of many processes
  local pip=("$venv/bin/pip" --disable-pip-version-check install --quiet --no-compile)
  rm -rf "$venv"
  run_step python "wheel" env PYTHON=/usr/bin/python3 scripts/build_wheel.sh &&
    run_step python "virtual environment" /usr/bin/python3 -m venv "$venv" &&
    run_step python "pip install of the wheel" "${pip[@]}" build/dist/*.whl &&
    run_step python "example of the README" "$venv/bin/python" python/tests/bare_install.py &&
    run_step python "packages of the tests" "${pip[@]}" -r python/tests/requirements.txt || return 0
  HYPERATOM_BIN="build/dev/bin/hyperatom" "$venv/bin/python" -m pytest python/tests -n "$jobs" -q \
    -p no:cacheprovider --junitxml "$results/python.pytest.xml" || code=$?
  echo "$code" >"$results/python.pytest.code"
}

# After the preset dev, which installs the packages of the viewer and builds it.
run_viewer() {
  if [[ ! -d viewer/node_modules ]]; then
    record viewer "viewer" skipped "needs Node.js 20.19 or newer and npm"
    return 0
  fi
  local script reports
  for script in check lint test; do
    run_step viewer "npm run $script" npm --prefix viewer run --silent "$script" || true
  done
  if reports=$(scripts/make_reports.sh build/dev/bin/hyperatom build/reports); then
    run_step viewer "npm run browser" env HYPERATOM_REPORTS="$reports" npm --prefix viewer run --silent browser || true
  else
    record viewer "reports for the browser" failed "scripts/make_reports.sh"
  fi
}

(($#)) || set -- check dev viewer asan python
for stage in "$@"; do
  echo "== $stage =="
  if [[ $stage == check ]]; then
    run_checks
  elif [[ $stage == python ]]; then
    run_python
  elif [[ $stage == viewer ]]; then
    run_viewer
  elif ! run_preset "$stage"; then
    echo "test.sh: preset $stage did not build; later stages were not run" >&2
    break
  fi
done
scripts/summarize_tests.py "$results"
