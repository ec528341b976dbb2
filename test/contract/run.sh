#!/usr/bin/env bash
# What go test ./... in this folder leaves out: programs that need Node.js 20 with npm. They read the document that
# the server prints: two linters, the TypeScript client that openapi-typescript generates from it, and a proxy that
# checks what this client and the server send each other.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'kill ${server:-} ${proxy:-} 2>/dev/null || true; rm -rf "$work"' EXIT

(cd ../.. && go build -o "$work/mockserver" ./mockserver/cmd/mockserver)
cd node
npm ci --silent --no-audit --no-fund
mkdir -p generated
"$work/mockserver" openapi >generated/openapi.json

# Each prints what it finds and fails for an error or a warning. Exceptions stand in redocly.yaml and spectral.yaml.
npm run --silent lint

npm run --silent generate
npm run --silent build

mkfifo "$work/ready"
"$work/mockserver" serve -addr 127.0.0.1:0 -clock virtual -json >"$work/ready" &
server=$!
# The line comes once the server accepts connections; the pipe ends without one if it could not start.
read -r line <"$work/ready" || { echo "the server did not start"; exit 1; }
value() { sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/" <<<"$line"; }
SHIPPING_SECRET_KEY=$(value secret_key)
export SHIPPING_SECRET_KEY
SHIPPING_BASE_URL=$(value url) npm run --silent smoke

# Prism responds with 422 or 500 in place of what does not fit the document.
touch "$work/prism.log"
node node_modules/.bin/prism proxy generated/openapi.json "$(value url)" --errors --port 0 >"$work/prism.log" 2>&1 &
proxy=$!
url=
for _ in $(seq 300); do
  url=$(sed -n 's/.*Prism is listening on //p' "$work/prism.log")
  if [ -n "$url" ] || ! kill -0 "$proxy" 2>/dev/null; then break; fi
  sleep 0.1
done
[ -n "$url" ] || { cat "$work/prism.log"; echo "the proxy did not start"; exit 1; }
refused=$(curl -s -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' -d '{"duration":7}' "$url/_mock/clock/advance")
[ "$refused" = 422 ] || { echo "the proxy lets a request pass that does not fit the document: $refused"; exit 1; }
SHIPPING_BASE_URL=$url npm run --silent smoke
! grep -i 'violation\|error' "$work/prism.log" | grep -v 'clock/advance'
