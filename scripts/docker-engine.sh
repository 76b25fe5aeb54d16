#!/usr/bin/env bash
# Leaves a Docker engine running: the one that answers, else one installed from Debian packages and started here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

answers() { timeout 10 docker info >/dev/null 2>&1; }
answers && exit 0

if [ "$(id -u)" != 0 ]; then
  echo "docker-engine: no Docker engine answers and only root can start one; start Docker and try again" >&2
  exit 1
fi

# Two callers at once must not start two engines.
exec 8>/var/lock/ingot-docker-engine
flock 8
answers && exit 0

packages=()
command -v dockerd >/dev/null && command -v docker >/dev/null || packages+=(docker.io)
command -v iptables >/dev/null || packages+=(iptables)
[ ${#packages[@]} -eq 0 ] || "$here/debian-install.sh" "${packages[@]}" 8>&-
# Since Debian 13 the command is a package of its own; before, docker.io brings it.
command -v docker >/dev/null || "$here/debian-install.sh" docker-cli 8>&-
answers && exit 0 # the package may have started its service, or only the command was missing

# With systemd the package has its own service; without (a container, a minimal machine) the daemon is started directly.
if [ -d /run/systemd/system ]; then
  systemctl start docker 8>&- || true
else
  log=${TMPDIR:-/tmp}/ingot-dockerd.log
  setsid dockerd >"$log" 2>&1 </dev/null 8>&- &
fi
for _ in $(seq 60); do
  answers && exit 0
  sleep 1
done
echo "docker-engine: the engine did not answer within 60 s; the end of its log follows" >&2
if [ -n "${log:-}" ]; then tail -n 10 "$log" >&2; else journalctl -n 10 -u docker --no-pager >&2 || true; fi
exit 1
