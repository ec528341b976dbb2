#!/usr/bin/env bash
# The tests of this module, against the real server: PostgreSQL as Debian has it, installed where
# it is missing. The tests start a server of their own, and stop it.
set -euo pipefail
cd "$(dirname "$0")"
if ! compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null
fi
go vet ./...
go test ./...
