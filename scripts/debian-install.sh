#!/usr/bin/env bash
# Installs the named Debian packages that are missing; safe to call from several scripts at once.
set -euo pipefail

missing=()
for package in "$@"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

fail() {
  echo "debian-install: cannot install ${missing[*]}: $1" >&2
  exit 1
}
command -v apt-get >/dev/null || fail "there is no apt-get here; install them in this system's own way and try again"
[ "$(id -u)" = 0 ] || fail "this needs root; run: sudo apt-get install ${missing[*]}"

# One installer at a time: parallel scripts would otherwise fail on dpkg's lock.
exec 9>/var/lock/ingot-debian-install
flock 9
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
apt=(apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
# A refresh once an hour is enough; a failed install with old lists refreshes and tries once more.
recent() { [ -n "$(find /var/lib/apt/lists -maxdepth 1 -name '*Packages*' -mmin -60 -print -quit 2>/dev/null)" ]; }
recent || "${apt[@]}" update >"$log" 2>&1 9>&- || { cat "$log" >&2; fail "apt-get update failed (above); check the network"; }
"${apt[@]}" install --no-install-recommends "${missing[@]}" >"$log" 2>&1 9>&- && exit 0
"${apt[@]}" update >>"$log" 2>&1 9>&- || true
"${apt[@]}" install --no-install-recommends "${missing[@]}" >>"$log" 2>&1 9>&- ||
  { tail -n 20 "$log" >&2; fail "apt-get install failed (above)"; }
