#!/usr/bin/env bash
# A program for sweep, written from its documentation: transactions.sh SHIPMENT WALLET. After a purchase without a
# response, it starts over if none of the newest transactions is a debit for the request.
shipment=$1 wallet=$2
call() { curl -sf --max-time 5 -H "Authorization: Bearer $SHIPPING_SECRET_KEY" -H 'Content-Type: application/json' "$SHIPPING_BASE_URL/v1/$1" "${@:2}"; }

for _ in 1 2; do
  draft=$(call regulatory-documents/analyze -d '{"shipment_id":"'"$shipment"'"}') || exit 1
  request=$(sed 's/.*"request_id":"\([^"]*\)".*/\1/' <<<"$draft")
  types=$(grep -o '"document_type":"[^"]*"' <<<"$draft" | sed 's/.*:/,/' | sort -u | tr -d '\n')
  bought=$(call regulatory-documents/purchase -d '{"request_id":"'"$request"'","document_types":['"${types#,}"']}')
  [[ $bought != *'"status":true'* ]] || exit 0
  newest=$(call "transactions?wallet=$wallet&perPage=20") || exit 1
  [[ $newest != *"$request"* ]] || exit 0
done
exit 1
