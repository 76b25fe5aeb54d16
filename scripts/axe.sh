#!/usr/bin/env bash
# Fetches axe-core, which finds faults of accessibility in a page, pinned, into .cache/ if missing, and prints the path of its script.
# It is not in the repository: its licence is MPL-2.0, and only the tests of the console need it.
set -euo pipefail
version=4.14.1
# SHA-512 of the package's archive; `npm view axe-core@VERSION dist.integrity` shows the same in base64.
sha512=1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5
here=$(cd "$(dirname "$0")" && pwd)
folder=$here/../.cache/axe-$version

mkdir -p "$here/../.cache"
exec 7>"$here/../.cache/axe.lock"
flock 7
if [ ! -e "$folder/complete" ]; then
  if ! command -v npm >/dev/null; then
    echo "axe: npm is missing, and axe-core comes as an npm package; install npm" >&2
    exit 1
  fi
  rm -rf "$folder"
  mkdir "$folder"
  if ! npm pack --silent --pack-destination "$folder" "axe-core@$version" >/dev/null 7>&-; then
    echo "axe: axe-core@$version could not be fetched; check that the npm registry can be reached" >&2
    exit 1
  fi
  archive=$folder/axe-core-$version.tgz
  if ! echo "$sha512  $archive" | sha512sum --check --status; then
    echo "axe: the archive is not the pinned one (SHA-512 differs); nothing of it was run" >&2
    rm -rf "$folder"
    exit 1
  fi
  tar -xzf "$archive" -C "$folder" --strip-components=1 package/axe.min.js
  rm "$archive"
  touch "$folder/complete" # written last: an interrupted fetch is done again
fi
cd "$folder"
echo "$PWD/axe.min.js"
