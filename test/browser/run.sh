#!/usr/bin/env bash
# The console's tests in Chromium. Needs Go, and Node.js 20 with npm; where Chromium is missing, Debian's is
# installed.
set -euo pipefail
cd "$(dirname "$0")"
if ! [ -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
  apt-get update -q >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium fonts-inter fonts-noto-color-emoji >/dev/null
fi
npm ci --silent --no-audit --no-fund
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd ../.. && go build -o "$work/mockserver" ./mockserver/cmd/mockserver)
MOCKSERVER="$work/mockserver" npm test --silent -- "$@"
