#!/usr/bin/env bash
# The types of the console's modules, and its tests in Chromium. Needs Go, and Node.js 20 with npm; if Chromium is
# missing, Debian's is installed.
set -euo pipefail
cd "$(dirname "$0")"
if ! [ -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
  apt-get update -q >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium fonts-inter fonts-noto-color-emoji >/dev/null
fi
npm ci --silent --no-audit --no-fund
npm run --silent check
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd ../.. && go build -o "$work/mockserver" ./mockserver/cmd/mockserver)
MOCKSERVER="$work/mockserver" npm test --silent -- "$@"
