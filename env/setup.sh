#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Make the virtual environment that `make` runs in; does nothing where it is ready.
#
#   PYTHON=python3.12   interpreter to use (3.10 to 3.14)
#   DISTRO=jazzy        which wheels to take where no ROS 2 is sourced (default kilted)
#   VENV=/somewhere     where to put it (default .venv in the tree)
#   CI=true             install the versions and hashes of env/*.lock, not the newest of the ranges in env/*.txt
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
venv=${VENV:-$root/.venv}
distro=${DISTRO:-kilted}
fail() { echo "setup: $*" >&2; exit 1; }

[ -f "$root/env/$distro.txt" ] || fail "unknown DISTRO '$distro', expected kilted or jazzy"
python=${PYTHON:-}
if [ -z "$python" ]; then
  for python in python3 python3.14 python3.13 python3.12 python3.11 python3.10 none; do
    "$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' \
      2>/dev/null && break
  done
fi
[ "$python" != none ] || fail 'found no Python 3.10 to 3.14 (set PYTHON=/path/to/python3)'
command -v "$python" >/dev/null || fail "PYTHON: no such program '$python'"
"$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null \
  || fail "$python is not a Python 3.10 to 3.14"

# A sourced ROS 2 is used as it is; without one its wheels come from the package index. What is
# installed in another virtual environment could not be seen from ours, so it does not count.
if "$python" -c 'import sys, rclpy; sys.exit(sys.prefix != sys.base_prefix)' 2>/dev/null; then
  ros="sourced $(command -v "$python") ${ROS_DISTRO:-}"
  site=--system-site-packages
  build="-r $root/env/build.txt"
  requirements="-r $root/env/tools.txt"
elif [ -n "${CI:-}" ]; then
  ros="$distro, locked"
  site=
  # Of empy there is no wheel; what builds it is locked too, by what is installed first.
  build="--require-hashes --only-binary :all: -r $root/env/build.lock"
  requirements="--require-hashes --no-deps --only-binary :all: --no-binary empy --no-build-isolation
    -r $root/env/$distro.lock"
else
  ros=$distro
  site=
  build="-r $root/env/build.txt"
  requirements="-r $root/env/$distro.txt -r $root/env/tools.txt"
fi
# Of two at once in one folder the second one waits, and finds it made.
mkdir -p "$venv" || fail "VENV: $venv cannot be made"
exec 9< "$venv"
if command -v flock >/dev/null; then flock 9; fi
want="$ros $("$python" -V 2>&1) $(cat "$root/env/"*.txt "$root/env/"*.lock "$root/setup.py" | cksum)"
if [ -f "$venv/ready" ] && [ "$(cat "$venv/ready")" = "$want" ]; then exit 0; fi

export PIP_DEFAULT_TIMEOUT="${PIP_DEFAULT_TIMEOUT:-60}"  # of a slow index
echo "setup: making $venv ($ros, $("$python" -V 2>&1)); this takes minutes, once"
"$python" -m venv --clear $site "$venv" \
  || fail "$python cannot make a virtual environment; on Debian: apt install python3-venv"
# shellcheck disable=SC2086
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check $build \
  || fail 'the package index cannot be reached, see above'
# shellcheck disable=SC2086
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check $requirements \
  || fail 'the package index did not give what is needed, see above'
# Two environments share the folder that this writes into the tree.
exec 8< "$root/env/setup.sh"
if command -v flock >/dev/null; then flock 8; fi
# setuptools warns that an editable install shows every folder of the tree, which is wanted here.
PYTHONWARNINGS=ignore "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
  --no-deps --no-build-isolation --editable "$root" || fail 'propulsion_ros could not be installed'
"$venv/bin/python" -c 'import rclpy' || fail "rclpy cannot be imported in $venv, see above"
# matplotlib lists the fonts once, and prints that in the midst of a demo or a test. Python compiles
# once, and here, what pip has not and what each test process would compile at the same time.
"$venv/bin/python" -c 'import gymnasium, hypothesis, matplotlib.pyplot, pytest, rosbags.rosbag2, scipy.stats' \
  || fail 'what the tests need cannot be imported, see above'
echo "$want" > "$venv/ready"
