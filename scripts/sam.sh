#!/usr/bin/env bash
# Installs the SAM CLI and cfn-lint, pinned, under .cache/ if missing, and prints the directory to put on PATH.
set -euo pipefail
sam=1.170.0 cfn_lint=1.58.0 # pins/sam.txt has them and all they need, with hashes
here=$(cd "$(dirname "$0")" && pwd)
venv=$here/../.cache/sam-$sam-$cfn_lint

mkdir -p "$here/../.cache"
exec 7>"$here/../.cache/sam.lock"
if command -v flock >/dev/null; then flock 7; fi # macOS has none: there, run no two first builds at once
if [ ! -e "$venv/complete" ]; then
  uv=$("$here/uv.sh" 7>&-)
  rm -rf "$venv"
  if ! { "$uv" venv -q --python python3 "$venv" &&
    "$uv" pip install -q --python "$venv/bin/python" --require-hashes -r "$here/pins/sam.txt"; } >&2; then
    rm -rf "$venv"
    echo "sam: aws-sam-cli $sam with cfn-lint $cfn_lint could not be installed (above); check that the Python package index can be reached" >&2
    exit 1
  fi
  touch "$venv/complete" # written last: an interrupted install is done again
fi
cd "$venv/bin"
pwd
