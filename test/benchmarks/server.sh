#!/usr/bin/env bash
# Measures the reference server against a bare handler of the same bytes, with wrk, on Linux with at least
# two cores. Flags are those of cmd/server: test/benchmarks/server.sh -rounds 7 -into ../../docs/BENCHMARKS.md
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v wrk >/dev/null; then
  if [ "$(id -u)" -eq 0 ]; then apt-get install -y wrk; else sudo apt-get install -y wrk; fi >&2
fi
exec go run ./cmd/server "$@"
