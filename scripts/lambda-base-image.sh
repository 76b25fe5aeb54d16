#!/usr/bin/env bash
# Leaves the Lambda base image public.ecr.aws/lambda/provided:al2023 on the local engine: pulled, or a stand-in that can run a static bootstrap.
#
# The SAM CLI builds its runtime emulator on top of it and asks for the name with the architecture at its end, so both are there.
set -euo pipefail
image=public.ecr.aws/lambda/provided:al2023
digest=sha256:26136a72871f0d0f9948a98a4568010b3aa210cd7bcb7dd6b51b606fe743b79a # of the image in the registry
case $(uname -m) in
  aarch64 | arm64) tagged=$image-arm64 ;;
  *) tagged=$image-x86_64 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)

"$here/docker-engine.sh"
present() { docker image inspect "$1" >/dev/null 2>&1; }
present "$image" && present "$tagged" && exit 0
if present "$image" || "$here/pull-image.sh" "$image" "$digest"; then
  docker tag "$image" "$tagged"
  exit 0
fi

# The stand-in: one static busybox for the few shell commands of the emulator's build, and certificates for TLS.
packages=()
[ -s /etc/ssl/certs/ca-certificates.crt ] || packages+=(ca-certificates)
# An installed busybox may be linked dynamically and would not start in an empty root.
[ "$(dpkg-query -W -f='${db:Status-Status}' busybox-static 2>/dev/null || true)" = installed ] || packages+=(busybox-static)
[ ${#packages[@]} -eq 0 ] || "$here/debian-install.sh" "${packages[@]}"

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
mkdir -p "$root"/{bin,opt,etc/ssl/certs,var/task,var/runtime,var/rapid}
mkdir -m 1777 "$root/tmp"
cp "$(command -v busybox)" "$root/bin/"
for command in sh ls cat chmod mkdir test mv cp; do ln -s busybox "$root/bin/$command"; done
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
tar -C "$root" --owner=0 --group=0 -c . | docker import -c 'ENV PATH=/bin LAMBDA_TASK_ROOT=/var/task' \
  -c 'WORKDIR /var/task' -c 'ENTRYPOINT ["/lambda-entrypoint.sh"]' - "$image" >/dev/null
docker tag "$image" "$tagged"
