#!/usr/bin/env bash
# Fetches the DynamoDB emulator of the benchmarks, pinned, into .cache/ if missing, and prints the path of its binary.
set -euo pipefail
version=1.2.1
# SHA-512 of the package's archive; `npm view @dynoxide/linux-x64@VERSION dist.integrity` shows the same in base64.
sha512=b011ea97127d00d90b96e1646117dde6bf18d00a457b0e0584eae5860440803e17cc4a053ae904a359ee053435fa34eda1fab09f83564369344e7e663538e052
here=$(cd "$(dirname "$0")" && pwd)
folder=$here/../.cache/dynoxide-$version

if [ "$(uname -s)-$(uname -m)" != Linux-x86_64 ]; then
  echo "dynoxide: the pinned binary is for Linux on x86-64; this is $(uname -s) on $(uname -m)" >&2
  exit 1
fi
mkdir -p "$here/../.cache"
exec 7>"$here/../.cache/dynoxide.lock"
flock 7
if [ ! -e "$folder/complete" ]; then
  if ! command -v npm >/dev/null; then
    echo "dynoxide: npm is missing, and the emulator comes as an npm package; install npm" >&2
    exit 1
  fi
  rm -rf "$folder"
  mkdir "$folder"
  if ! npm pack --silent --pack-destination "$folder" "@dynoxide/linux-x64@$version" >/dev/null 7>&-; then
    echo "dynoxide: @dynoxide/linux-x64@$version could not be fetched; check that the npm registry can be reached" >&2
    exit 1
  fi
  archive=$folder/dynoxide-linux-x64-$version.tgz
  if ! echo "$sha512  $archive" | sha512sum --check --status; then
    echo "dynoxide: the archive is not the pinned one (SHA-512 differs); nothing of it was run" >&2
    rm -rf "$folder"
    exit 1
  fi
  tar -xzf "$archive" -C "$folder" --strip-components=1 package/dynoxide
  rm "$archive"
  touch "$folder/complete" # written last: an interrupted fetch is done again
fi
cd "$folder"
echo "$PWD/dynoxide"
