#!/usr/bin/env bash
# Installs Debian's Chromium if there is none, with a font, and prints the path of the binary.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v chromium >/dev/null; then
  "$here/debian-install.sh" chromium fonts-dejavu-core
fi
command -v chromium
