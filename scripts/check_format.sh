#!/usr/bin/env bash
# Checks that all C++ is formatted as .clang-format says; --fix formats it in place.
# Other versions of clang-format than the one below lay some lines out differently: with those, the
# check is skipped (exit code 77) rather than failed.
set -euo pipefail
cd "$(dirname "$0")/.."

version=14
tool="$(command -v "clang-format-$version" || command -v clang-format || true)"
found="$([[ -z $tool ]] || "$tool" --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p')"
if [[ $found != "$version" ]]; then
  echo "check_format: needs clang-format $version, found ${found:-none}"
  exit 77
fi

if ! git rev-parse --git-dir >/dev/null 2>&1; then
  echo "check_format: not a git repository, so its files are not known"
  exit 77
fi
mapfile -d '' -t files < <(git ls-files -z --cached --others --exclude-standard -- '*.hpp' '*.cpp')
existing=()
for file in "${files[@]}"; do
  [[ ! -f $file ]] || existing+=("$file")
done
if ((${#existing[@]})); then
  if [[ ${1-} == --fix ]]; then
    "$tool" -i "${existing[@]}"
  elif ! "$tool" --dry-run -Werror "${existing[@]}"; then
    echo "check_format: run 'make format'"
    exit 1
  fi
fi
echo "check_format: ${#existing[@]} files in order"
