#!/usr/bin/env bash
# Installs the SAM CLI and cfn-lint, pinned, under .cache/ if missing, and prints the directory to put on PATH.
exec "$(dirname "$0")/python-tool.sh" sam
