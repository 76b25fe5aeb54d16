#!/usr/bin/env bash
# Installs the AWS CLI (version 1) and boto3, pinned, under .cache/ if missing, and prints the directory to put on PATH.
# Tests use them as clients that the project has not written.
exec "$(dirname "$0")/python-tool.sh" awscli
