#!/usr/bin/env bash
# Runs the test suites of examples/python and examples/node: first both at once against one server, then each with the
# server that it starts itself. With SHIPPING_SWEEP=all, sweeps the programs of examples/careless and of this folder, too.
# Needs Go, Node.js 20, and Python 3.9, which is installed if it is missing; for all programs Perl and curl.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v python3 >/dev/null; then
  apt-get update -q >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends python3 >/dev/null
fi

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
go build -o "$work/mockserver" ./mockserver/cmd/mockserver
export PATH="$work:$PATH" PYTHONDONTWRITEBYTECODE=1 NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
unset SHIPPING_BASE_URL MOCKSERVER MOCKSERVER_TOKEN

declare -A tests=([python]="python3 -W error -m unittest" [node]="node --test")
# suite LANGUAGE SERVER runs the tests of a language, and prints what they wrote if one failed.
suite() {
  if ! (cd "examples/$1" && timeout 300 ${tests[$1]}) >"$work/$1.log" 2>&1; then
    cat "$work/$1.log"
    echo "examples/$1: a test failed"
    return 1
  fi
  echo "examples/$1: $(sed -nE 's/^Ran ([0-9]+) tests? .*/\1/p; s/^# pass ([0-9]+)/\1/p; s/^ℹ pass ([0-9]+)/\1/p' "$work/$1.log") tests passed with $2"
}

mkfifo "$work/ready"
mockserver serve -addr 127.0.0.1:0 -json >"$work/ready" &
server=$!
# The line comes once the server accepts connections; the pipe ends without one if it could not start.
read -r line <"$work/ready" || { echo "the server did not start"; exit 1; }
SHIPPING_BASE_URL=$(sed 's/.*"url":"\([^"]*\)".*/\1/' <<<"$line")
export SHIPPING_BASE_URL
suite python "a server that both share" &
together=$!
suite node "a server that both share"
wait "$together"
# Each test closes its world.
left=$(curl -sf "$SHIPPING_BASE_URL/_mock/worlds" | sed -n 's/.*"pagination":{"total":\([0-9]*\).*/\1/p')
[ "$left" = 1 ] || { echo "$left worlds are open after the tests, want the server's own only"; exit 1; }

unset SHIPPING_BASE_URL
suite python "a server of its own"
suite node "a server of its own"

[ "${SHIPPING_SWEEP:-}" = all ] || exit 0

# swept VERDICT FLAGS… -- COMMAND… requires that a program passes under every fault, or fails with that verdict.
swept() {
  local verdict=$1 outcome=passes program="$*"
  mockserver sweep -patience 5s "${@:2}" >"$work/sweep.log" 2>&1 || outcome=fails
  if [ "$verdict" = passes ] && [ "$outcome" = fails ] || [ "$verdict" != passes ] && ! grep -q "^  $verdict: " "$work/sweep.log"; then
    cat "$work/sweep.log"
    echo "${program#*-- } $outcome, want: $verdict"
    exit 1
  fi
  echo "${program#*-- }: $verdict; $(grep 'with faults' "$work/sweep.log")"
}
cd examples/careless
swept paid-twice -- python3 careless.py '{shipment}'
swept passes -restart -- python3 careful.py '{shipment}' '{dir}'
swept paid-twice -- node careless.mjs '{shipment}'
swept passes -restart -- node careful.mjs '{shipment}' '{dir}'

# These were written from docs/sweep.md only. With -parallel 40, the runs that wait five minutes, some of them twice, do
# so at the same time.
cd ../../test/languages
notify=(-quiet 8s -notify 'http://127.0.0.1:{port}/')
swept sent-again -- python3 programs.py retry-everything '{shipment}' '{dir}'
swept paid-twice -- python3 programs.py ask-once '{shipment}' '{dir}'
swept paid-twice "${notify[@]}" -faults twice,replayed,forged -- python3 programs.py receive-by-delivery '{shipment}' '{port}'
swept passes -restart -parallel 40 -timeout 12m -- python3 programs.py careful '{shipment}' '{dir}'
swept missing -- node programs.mjs ok-is-enough '{shipment}' '{dir}'
swept missing -restart "${notify[@]}" -faults killed -- node programs.mjs respond-first '{shipment}' '{dir}' '{port}'
swept passes -restart -parallel 40 -timeout 12m "${notify[@]}" -quiet 30s -- node programs.mjs queue '{shipment}' '{dir}' '{port}'
swept paid-twice -- perl programs.pl gone-begins-again '{shipment}'
swept passes -- perl programs.pl give-up '{shipment}'
swept paid-twice -- bash transactions.sh '{shipment}' '{wallet}'
