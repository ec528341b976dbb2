#!/usr/bin/env bash
# Runs the test suites of examples/python and examples/node: first both at once against one server, then each with the
# server that it starts itself. With SHIPPING_SWEEP=all, sweeps the programs of examples/careless in both languages, too.
# Needs Go, Node.js 20, and Python 3.9, which is installed if it is missing.
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

# swept PROGRAM OUTCOME FLAGS… requires that a program of examples/careless passes under every fault, or pays twice.
swept() {
  local outcome=passes
  mockserver sweep -patience 5s "${@:3}" >"$work/sweep.log" 2>&1 || outcome=fails
  if [ "$outcome" != "$2" ] || { [ "$2" = fails ] && ! grep -q 'paid-twice: CUSTOMS' "$work/sweep.log"; }; then
    cat "$work/sweep.log"
    echo "examples/careless/$1 $outcome, want that it $2"
    exit 1
  fi
  echo "examples/careless/$1 $2: $(grep 'runs with faults' "$work/sweep.log")"
}
swept careless.py fails -- python3 examples/careless/careless.py '{shipment}'
swept careful.py passes -restart -- python3 examples/careless/careful.py '{shipment}' '{dir}'
swept careless.mjs fails -- node examples/careless/careless.mjs '{shipment}'
swept careful.mjs passes -restart -- node examples/careless/careful.mjs '{shipment}' '{dir}'
