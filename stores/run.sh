#!/usr/bin/env bash
# The tests of this module, against real servers: PostgreSQL and Redis as Debian has them, installed where
# they are missing. The tests start servers of their own, and stop them.
set -euo pipefail
cd "$(dirname "$0")"

missing=()
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || missing+=(postgresql)
command -v redis-server >/dev/null || missing+=(redis-server)
if [ "${#missing[@]}" -gt 0 ]; then
  if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
    echo "stores: these tests need ${missing[*]}: install them (this script can, as root, where there is apt-get) and run it again" >&2
    exit 1
  fi
  echo "stores: installing ${missing[*]}"
  apt-get update -qq
  # In run level 1 the packages' own servers are not started; the tests start theirs.
  RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

go vet ./...
go test -race "$@" ./...
