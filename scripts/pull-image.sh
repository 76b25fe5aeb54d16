#!/usr/bin/env bash
# Pulls one image by its digest and gives it its name; fails quickly and quietly where the registry cannot be reached.
set -euo pipefail
image=$1 digest=$2
pinned=${image%:*}@$digest
# The manifest is a small request that tells within seconds whether the registry answers at all: a pull itself may take minutes.
timeout 15 docker manifest inspect "$pinned" >/dev/null 2>&1 || exit 1
timeout 600 docker pull -q "$pinned" >/dev/null 2>&1 && docker tag "$pinned" "$image"
