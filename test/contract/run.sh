#!/usr/bin/env bash
# What go test ./... in this folder leaves out: the TypeScript client that openapi-typescript generates from
# the document, compiled and run against the server. Needs Go, and Node.js 20 with npm.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$work"' EXIT

cd typescript
npm ci --silent --no-audit --no-fund
(cd ../../.. && go build -o "$work/mockserver" ./mockserver/cmd/mockserver)
mkdir -p generated
"$work/mockserver" openapi -o generated/openapi.json
npm run --silent generate
npm run --silent build

mkfifo "$work/ready"
"$work/mockserver" serve -addr 127.0.0.1:0 -clock virtual -json >"$work/ready" &
server=$!
# The line comes once the server accepts connections; the pipe ends without one if it could not start.
read -r line <"$work/ready" || { echo "the server did not start"; exit 1; }
value() { sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/" <<<"$line"; }
SHIPPING_BASE_URL=$(value url) SHIPPING_SECRET_KEY=$(value secret_key) npm run --silent smoke
