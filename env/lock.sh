#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Renew the locks: every version and hash that CI and `make release` install, for all Pythons at once.
# Wheels alone, so that no code of a package runs while it is installed; empy, which ROS needs, has none.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: uv
lock() {
  out=$1; shift
  "$work/venv/bin/uv" pip compile --quiet --upgrade --universal --python-version 3.10 --native-tls \
    --generate-hashes --only-binary :all: --no-binary empy --no-annotate --no-header --output-file "$work/out" "$@"
  { echo '# Made by `make lock`.'; cat "$work/out"; } > "env/$out"
  rm "$work/out"
  echo "lock: env/$out"
}
# Where two are installed into one environment, what both need is the same.
lock build.lock env/build.txt
lock kilted.lock env/kilted.txt env/tools.txt --constraints env/build.lock
lock jazzy.lock env/jazzy.txt env/tools.txt --constraints env/build.lock
lock colcon.lock env/colcon.txt --constraints env/jazzy.lock --constraints env/build.lock
lock release.lock env/release.txt --constraints env/build.lock
