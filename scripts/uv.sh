#!/usr/bin/env bash
# Prints the path of a pinned uv (Python package installer) under .cache/, installing it there first if missing.
set -euo pipefail
version=0.9.18 # pins/uv.txt has its hashes
here=$(cd "$(dirname "$0")" && pwd)
venv=$here/../.cache/uv-$version

mkdir -p "$here/../.cache"
exec 8>"$here/../.cache/uv.lock"
if command -v flock >/dev/null; then flock 8; fi # macOS has none: there, run no two first builds at once
if [ ! -x "$venv/bin/uv" ]; then
  python3 -c 'import venv, ensurepip' 2>/dev/null || "$here/debian-install.sh" ca-certificates python3 python3-venv >&2 8>&-
  rm -rf "$venv"
  python3 -m venv "$venv" >&2
  if ! "$venv/bin/pip" install -q --disable-pip-version-check --require-hashes -r "$here/pins/uv.txt" >&2; then
    rm -rf "$venv"
    echo "uv: pip could not install uv $version (above); check that the Python package index can be reached" >&2
    exit 1
  fi
fi
cd "$venv/bin"
echo "$PWD/uv"
