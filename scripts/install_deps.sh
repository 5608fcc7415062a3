#!/usr/bin/env bash
# Installs the Debian/Ubuntu packages that hyperatom needs and that are missing; silent if none is.
# Usage: scripts/install_deps.sh [--dev]   --dev adds what tests, benchmarks and checks need.
set -euo pipefail

packages=(
  build-essential cmake ninja-build pkg-config  # compiler and build system
  libeigen3-dev                                 # linear algebra
  libtbb-dev                                    # threads
  libfmt-dev                                    # text formatting
  nlohmann-json3-dev                            # JSON
  librandom123-dev                              # counter-based random streams
  libsvm-dev                                    # the SVM that the paper compares with
  libcli11-dev                                  # command line
  libgdal-dev                                   # scenes, labels and maps in files
  libhdf5-dev zlib1g-dev                        # MATLAB files
  python3-dev python3-venv                      # the Python package
)
dev_packages=(
  ccache                                                  # faster rebuilds
  libgtest-dev libgmock-dev                               # unit tests
  librapidcheck-dev                                       # property tests
  python3-pytest python3-pytest-xdist python3-jsonschema  # integration tests
  python3-numpy python3-scipy python3-sklearn python3-gdal gdal-bin     # what those judge results by
  libbenchmark-dev valgrind                               # benchmarks
  clang-format clang-tidy                                 # code style
  python3 git                                             # check scripts, golden files
  chromium                                                # tests of the report
)

fail() {
  echo "install_deps: $*" >&2
  exit 1
}

case "${1-}" in
  "") ;;
  --dev) packages+=("${dev_packages[@]}") ;;
  *) fail "unknown argument '$1' (expected --dev or nothing)" ;;
esac

command -v apt-get >/dev/null ||
  fail "apt-get not found: this is not Debian or Ubuntu; install by hand: ${packages[*]}"

missing=()
installed="$(dpkg-query -W -f=' ${db:Status-Status}:${Package} ' "${packages[@]}" \
  2>/dev/null || true)"
for package in "${packages[@]}"; do
  [[ $installed == *" installed:$package "* ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
if [[ $EUID -ne 0 ]]; then
  command -v sudo >/dev/null || fail "needs root or sudo for: apt-get install ${missing[*]}"
  as_root=(sudo)
fi
apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

echo "install_deps: installing ${missing[*]}"
apt_get update || fail "apt-get update failed (see above)"
# The viewer of reports is built where Node.js is new enough; that of Debian 12 is not.
node="$(apt-cache policy nodejs | sed -n 's/^ *Candidate: //p')"
if ! command -v npm >/dev/null && dpkg --compare-versions "${node:-0}" ge 20.19; then
  missing+=(nodejs npm)
fi
apt_get install --no-install-recommends "${missing[@]}" ||
  fail "apt-get could not install: ${missing[*]} (see above)"
