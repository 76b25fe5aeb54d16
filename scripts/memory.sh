#!/usr/bin/env bash
# Prints a folder in memory for what tests keep for a moment, if the machine has one with room enough from which programs
# may run. Simulated worlds and the tests that kill processes make very many small files: a disk takes half their time.
set -euo pipefail
room=$((6 << 20)) # in KB; /dev/shm is half of the memory as a rule

[ -d /dev/shm ] && [ -w /dev/shm ] || exit 0
grep -q '^MemAvailable:' /proc/meminfo || exit 0
available=$(awk '$1 == "MemAvailable:" {print $2}' /proc/meminfo)
free=$(df -Pk /dev/shm | awk 'NR == 2 {print $4}')
if [ "$free" -ge "$room" ] && [ "$available" -ge "$room" ] && ! awk '$2 == "/dev/shm"' /proc/mounts | grep -q noexec; then
  echo /dev/shm
fi
