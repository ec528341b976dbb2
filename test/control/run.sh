#!/usr/bin/env bash
# Calls the routes under /_mock/ with curl, as one story. It fails if a response is not as expected.
#
#   step "what happens" METHOD PATH EXPECTED [BODY]
#
# calls METHOD /_mock/PATH for the world of the story, and wants a response with status 200 that contains EXPECTED.
# Afterwards "field NAME" prints a member of the response. Needs Go, curl, and Node.js for the receiver of notifications.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
export no_proxy=127.0.0.1 NO_PROXY=127.0.0.1

go build -o "$work/mockserver" ./mockserver/cmd/mockserver
# first COMMAND... starts a command in the background, and sets line to the first line that it prints.
first() {
  rm -f "$work/pipe"
  mkfifo "$work/pipe"
  "$@" >"$work/pipe" &
  pids+=($!)
  read -r line <"$work/pipe" || { echo "${1##*/} did not start"; exit 1; }
}
first "$work/mockserver" serve -addr 127.0.0.1:0 -json -clock virtual
url=$(sed 's/.*"url":"\([^"]*\)".*/\1/' <<<"$line")
first node -e 'const s = require("http").createServer((q, a) => q.resume().on("end", () => a.end()));
  s.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${s.address().port}/`))'
receiver=$line

fail() {
  head -c 1000 "$work/body"
  printf '\nFAILED: %s\n' "$*"
  exit 1
}

# field NAME prints the first member of that name in the last response: a string or a number.
field() { grep -o "\"$1\":\(\"[^\"]*\"\|[0-9.]*\)" "$work/body" | sed -n '1{s/^[^:]*://;s/"//g;p}'; }

# call STATUS METHOD URL [BODY] [CURL OPTION...] makes a request and checks the status of its response.
call() {
  local status=$1 method=$2 target=$3 body=${4-} got
  shift 3
  [ $# = 0 ] || shift
  got=$(curl -sS --max-time 60 -o "$work/body" -w '%{http_code}' -X "$method" ${body:+-H 'Content-Type: application/json' -d "$body"} "$@" "$target") || true
  [ "$got" = "$status" ] || fail "$method $target: status $got, want $status"
}

step() {
  local method=$2 path=$3 query=
  [ -z "$world" ] || case $path in *\?*) query="&world=$world" ;; *) query="?world=$world" ;; esac
  call 200 "$method" "$url/_mock/$path$query" "${5-}"
  grep -aqF -- "$4" "$work/body" || fail "$method /_mock/$path: the response does not contain $4"
  echo "$method /_mock/${path%%\?*}" >>"$work/called"
  printf '  %-62s %-6s /_mock/%s\n' "$1" "$method" "${path%%\?*}"
}

# service STATUS METHOD TARGET [BODY] calls the service itself, under the key of the world.
service() { call "$1" "$2" "$url/v1/$3" "${4-}" -H "Authorization: Bearer $key"; }

chapter() { printf '%s\n' "$*"; }

world= # the server's own
chapter "The server"
step "every route is listed" GET "" '"path":"/_mock/worlds"'
grep -q '"version":"[(v]' "$work/body" || fail "the index does not have the version"
grep -q '"word":"lowfunds"' "$work/body" || fail "the index does not list the scenarios"
grep -q SH-MAGICNEEDEVIDENCE "$work/body" || fail "the index does not list the inputs with special effects"
cp "$work/body" "$work/index"
step "the server works" GET worlds/home '"clock":"virtual"'
step "its interface is described" GET openapi.json '"/_mock/worlds"'

chapter "A world of its own"
step "a world is opened, with a dialect of its own" POST worlds '"name":"lowfunds_story"' '{"scenario":"lowfunds","name":"story","dialect":{"list":{"max_per_page":50}}}'
key=$(field secret_key)
world=$(field name)
step "both worlds are open" GET worlds '"total":2'
step "its dialect has another value" GET dialect '"value":"50"'
step "what it holds" GET "worlds/$world" '"wallets":["VA-'
shipment=$(field shipment_id)

chapter "Money"
step "a dollar buys 1476.04 naira" GET ledger '"NGN":1476.04'
step "from now on, 1600" PATCH ledger '"NGN":1600' '{"exchange_rates":{"NGN":1600}}'
service 200 POST regulatory-documents/analyze '{"shipment_id":"'"$shipment"'"}'
request=$(field request_id) wallet=$(field wallet)
order='{"request_id":"'"$request"'","document_types":["CUSTOMS"]}'
service 400 POST regulatory-documents/purchase "$order"
step "the wallet cannot pay; the journal has the refused request" GET "journal?operation=regulatory.purchase&status=400" insufficient_funds
step "it is explained, with the rule of the specification" GET "journal/$(field request_id)" '"specification":"'
step "refused requests are exported as curl commands" GET "journal?refused=true&status=4xx&as=curl" "curl -i -X POST"
step "the wallet gets 10,000.00" PATCH ledger '"balance":10001' '{"fund":[{"wallet":"'"$wallet"'","amount":10000.00}]}'

chapter "A fault"
step "the response to a purchase will be lost, after the charge" POST faults '"number":1' \
  '{"rules":[{"operation":"regulatory.purchase","committed":true,"fault":{"kind":"drop"}}]}'
service 000 POST regulatory-documents/purchase "$order" 2>/dev/null
step "the rule has struck once" GET faults '"struck":1'
step "the wallet was charged once, 4 dollars" GET "ledger?wallet=$wallet&perPage=1" '"balance":3601'
step "the rule is removed" DELETE "faults?number=1" '"data":[]'
step "another rule is added" POST faults '"number":2' '{"rules":[{"operation":"rates.list","first":1,"fault":{"kind":"status","status":503,"header":{"Retry-After":"2"}}}]}'
step "all rules are removed" DELETE faults '"data":[]'
service 200 GET 'rates?perPage=1'

chapter "A route beside the specified ones"
step "a stub is added" POST stubs '"operation":"POST /v1/shipments"' '{"method":"POST","pattern":"/v1/shipments","status":201,"body":"{}"}'
service 201 POST shipments '{}'
step "it was requested once" GET stubs '"requests":1'
step "it is removed" DELETE stubs '"data":[]'

chapter "Time"
step "a document is pending" GET "worlds/$world" '"pending":1'
step "an hour passes, and the document is generated" POST clock/advance '"label":"generate CUSTOMS' '{"duration":"1h"}'
step "the request is listed" GET regulatory-requests '"status":"completed"'
step "it is read" GET "regulatory-requests/$request" '"status":"completed"'
service 200 POST regulatory-documents/analyze '{"shipment_id":"SH-MAGICNEEDEVIDENCE"}'
manual=$(field request_id)
step "the wallet gets more" PATCH ledger '"balance":' '{"fund":[{"wallet":"'"$wallet"'","amount":100000}]}'
service 200 POST regulatory-documents/purchase '{"request_id":"'"$manual"'","document_types":["MSDS"]}'
step "evidence for a manual document is submitted" POST "regulatory-requests/$manual/evidence/MSDS" '"request_id":"'"$manual"'"' '{}'

chapter "The journal"
curl -sS --max-time 60 -o "$work/awaited" "$url/_mock/journal?wait=30s&operation=countries.list&world=$world" &
awaiting=$!
service 200 GET countries
wait "$awaiting"
grep -q '"path":"/v1/countries"' "$work/awaited" || fail "the awaited request did not come: $(cat "$work/awaited")"
step "the request that was awaited is there at once" GET "journal?wait=30s&operation=countries.list&bodies=false" '"path":"/v1/countries"'
step "a journal entry is shown as a command of curl" GET "journal/$(field request_id)?as=curl" "curl "
step "what changes is counted" GET live '"journal_entries":'
step "lint lists its findings" GET "journal?as=findings" '"data":['

chapter "Webhooks"
step "a shipment is added" POST shipments '"shipment_id":"SH-ADDED"' '{"shipment_id":"SH-ADDED","line_items":[{"hs_code":"910211"}]}'
step "an invoice is added" POST invoices '"file_url":"https://shop.example/1.pdf"' '{"file_url":"https://shop.example/1.pdf","documents":[{"document_type":"CUSTOMS","amount":7}]}'
step "a receiver is subscribed" POST webhooks '"active":true' '{"url":"'"$receiver"'","events":["shipment.delivered"]}'
webhook=$(field webhook_id)
step "its webhook is the newest" GET "webhooks?perPage=1" "$webhook"
step "it is renamed" PATCH "webhooks/$webhook" '"name":"receiver"' '{"name":"receiver"}'
step "an event is emitted" POST events "$webhook" '{"event":"shipment.delivered","shipment_id":"'"$shipment"'"}'
step "a minute passes, and the notification is sent" POST clock/advance '"fired":' '{"duration":"1m"}'
step "the deliveries are logged" GET "deliveries?perPage=10&wait=10s" '"state":"delivered"'
grep -q '"status_code":200' "$work/body" || fail "the receiver did not accept a notification"
step "the inbox is subscribed: it needs no receiver" POST webhooks '"url":"http://inbox.localhost/"' '{"url":"http://inbox.localhost/","events":["shipment.updated"]}'
step "it is notified" POST events '"url":"http://inbox.localhost/"' '{"event":"shipment.updated","shipment_id":"'"$shipment"'"}'
step "the notification has arrived, with a valid signature" GET "inbox?wait=10s&contains=$shipment" '"status":200,"valid":true'
step "a notification without signature is not valid" POST inbox '"valid":false,"problem":"the header X-Webhook-Signature is missing' '{"event":"shipment.updated"}'
step "the webhook is removed" DELETE "webhooks/$webhook" "$webhook"

chapter "From the start"
step "the world is reset" POST "worlds/$world/reset" '"regulatory_requests":0'
step "its wallet holds 1.00 again" GET "ledger?wallet=$wallet&perPage=1" "\"reference\":\"$wallet\",\"currency\":\"NGN\",\"name\":\"Main wallet\",\"balance\":1}"
step "a dollar buys what it did" GET ledger '"NGN":1476.04'
closed=$world world=
step "the world is closed" DELETE "worlds/$closed" "\"name\":\"$closed\""
step "no other world was idle for an hour" DELETE "worlds?idle=1h" '"data":[]'

# Each call was of a route of the index. test/contract demands a request for every route.
grep -o '"method":"[A-Z]*","path":"[^"]*"' "$work/index" | sed 's/"method":"\([A-Z]*\)","path":"\([^"]*\)"/\1 \2/' >"$work/routes"
sed 's#[.]#\\&#g; s#{[a-z_]*}#[^/]\\{1,\\}#g; s#^#^#; s#$#$#' "$work/routes" >"$work/patterns"
[ -s "$work/patterns" ] || { echo 'FAILED: the index has no routes'; exit 1; }
unlisted=$(grep -v -f "$work/patterns" "$work/called" || true)
[ -z "$unlisted" ] || { printf 'FAILED: GET /_mock/ does not list:\n%s\n' "$unlisted"; exit 1; }
echo "$(sort -u "$work/called" | wc -l) routes and records under /_mock/ were called"
