#!/usr/bin/env bash
# Installs what pins/NAME.txt lists, with hashes, under .cache/ if missing, and prints the directory to put on PATH.
set -euo pipefail
name=$1
here=$(cd "$(dirname "$0")" && pwd)
pins=$here/pins/$name.txt
venv=$here/../.cache/$name-$(cksum <"$pins" | cut -d' ' -f1)

mkdir -p "$here/../.cache"
exec 7>"$here/../.cache/$name.lock"
if command -v flock >/dev/null; then flock 7; fi # macOS has none: there, run no two first builds at once
if [ ! -e "$venv/complete" ]; then
  uv=$("$here/uv.sh" 7>&-)
  rm -rf "$venv"
  if ! { "$uv" venv -q --python python3 "$venv" &&
    "$uv" pip install -q --python "$venv/bin/python" --require-hashes -r "$pins"; } >&2; then
    rm -rf "$venv"
    echo "$name: what $pins lists could not be installed (above); check that the Python package index can be reached" >&2
    exit 1
  fi
  touch "$venv/complete" # written last: an interrupted install is done again
fi
cd "$venv/bin"
pwd
