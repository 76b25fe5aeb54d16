#!/usr/bin/env bash
# Installs DuckDB, pinned, under .cache/ if missing, and prints the directory to put on PATH. A test reads the archive with it.
exec "$(dirname "$0")/python-tool.sh" duckdb
