package contract

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Every operation below /_mock/ accepts the documented request, and responds as documented, field by field.
func TestControl_EveryOperationSucceedsAsDocumented(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithVirtualClock(time.Time{}))
	c := newCaller(t, srv)
	wallet := srv.Wallets()[0]

	// One of each: a call, a refusal, a finding, a request that failed and one that waits for evidence.
	c.send("GET", "/v1/transactions", "")
	c.send("GET", "/v1/transactions", "")
	c.send("GET", "/v1/rates?colour=red", "")
	failed := c.analyze(`{"shipment_id":"SH-MAGICFAILONCE"}`)
	c.succeed("PUT", failed+"/profiles/CUSTOMS", `{"incoterm":"DDP"}`)
	c.succeed("POST", base+"/purchase", purchase(failed, `"CUSTOMS"`))
	perfume := c.analyze(`{"file_url":"https://invoices.example/need-evidence.pdf"}`)
	c.succeed("POST", base+"/purchase", purchase(perfume, `"MSDS","CUSTOMS"`))
	failedID, perfumeID := failed[strings.LastIndex(failed, "/")+1:], perfume[strings.LastIndex(perfume, "/")+1:]
	hook := shippingtest.Must(srv.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:9/"}))(t)
	call := shippingtest.Must(srv.Await(t.Context(), journal.Query{Operation: shipping.OpAnalyze}, time.Minute))(t)

	tests := []struct{ method, path, body string }{
		{"GET", "", ""}, {"GET", "live", ""}, {"GET", "healthz", ""},
		{"GET", "dialect", ""}, {"GET", "openapi.json", ""},
		{"POST", "clock/advance", `{"duration":"1h"}`},
		{"POST", "faults", `{"rules":[
			{"operation":"rates.list","nth":2,"each_request":true,"probability":0.5,"from":"2026-01-05T09:30:00Z",
				"until":"2036-01-05T09:30:00Z","fault":{"kind":"status","status":503,"header":{"X-A":"b"}}},
			{"operation":"countries.list","first":1,"committed":true,
				"fault":{"kind":"rate-limit","retry_after":"seconds","duration":"1s"}},
			{"operation":"regulatory.purchase","point":"after-charge"},
			{"operation":"webhooks.list","first":1,
				"fault":{"kind":"respond","status":200,"header":{"X-A":["b","c"],"X-D":"e"},"body":"[]"}},
			{"operation":"webhooks.list","first":1,"fault":{"kind":"insert-rows","rows":1}}]}`},
		{"GET", "faults", ""}, {"DELETE", "faults?number=1", ""},
		{"GET", "journal", ""},
		{"GET", "journal?operation=rates.list&status=200&contains=colour&after=req-1&last=5&bodies=false" +
			"&wait=1s&count=1&faulted=false", ""},
		{"GET", "journal?method=GET&status=4xx&refused=true&before=req-3", ""}, {"GET", "journal?fault=drop&as=jsonl", ""},
		{"GET", "journal?as=curl", ""}, {"GET", "journal?as=findings", ""},
		{"GET", "journal/" + call.ID, ""}, {"GET", "journal/" + call.ID + "?as=curl", ""}, {"GET", "journal/req-1", ""},
		{"DELETE", "faults", ""},
		{"POST", "stubs", `{"method":"POST","pattern":"/v1/shipments","status":201,"header":{"X-A":"b"},"body":"{}"}`},
		{"GET", "stubs", ""}, {"DELETE", "stubs?operation=POST+%2Fv1%2Fshipments", ""}, {"DELETE", "stubs", ""},
		{"GET", "ledger?perPage=5", ""}, {"GET", "ledger?wallet=" + wallet, ""},
		{"PATCH", "ledger", `{"fund":[{"wallet":"` + wallet + `","amount":100.5}],"exchange_rates":{"NGN":1600}}`},
		{"POST", "shipments", `{"line_items":[{"hs_code":"910211"}],"documents":[{"document_type":"CUSTOMS","amount":7}]}`},
		{"POST", "invoices", `{}`},
		{"GET", "webhooks?perPage=3&contains=WA-", ""},
		{"POST", "webhooks", `{"url":"http://127.0.0.1:9/","events":["shipment.created"]}`},
		{"PATCH", "webhooks/" + hook, `{"name":"Warehouse","active":true}`},
		{"POST", "events", `{"event":"shipment.updated"}`}, {"POST", "events", `{"event":"shipment.updated","data":{"a":1}}`},
		{"POST", "webhooks", `{"url":"http://inbox.localhost/"}`}, {"POST", "events", `{"event":"shipment.updated"}`},
		{"GET", "inbox?wait=5s&count=1&contains=shipment.updated&after=0", ""},
		{"POST", "inbox?status=200", `{"event":"shipment.updated"}`},
		{"POST", "clock/advance", `{"duration":"1m"}`}, {"GET", "deliveries?perPage=100&wait=5s&contains=shipment", ""},
		{"DELETE", "webhooks/" + hook, ""},
		{"GET", "regulatory-requests?page=1", ""}, {"GET", "regulatory-requests/" + failedID, ""},
		{"GET", "regulatory-requests/" + perfumeID, ""},
		{"POST", "regulatory-requests/" + perfumeID + "/evidence/MSDS", ""}, {"POST", "clock/advance", `{"duration":"1h"}`},
		{"POST", "worlds", `{"scenario":"lowfunds","name":"ci42",
			"dialect":{"list":{"max_per_page":2,"order":"oldest first"},"time":{"purchasing":"5s","generation":0.5}}}`},
		{"GET", "worlds?keys=false", ""}, {"GET", "worlds/lowfunds_ci42", ""},
		{"POST", "worlds/lowfunds_ci42/reset", ""}, {"DELETE", "worlds/lowfunds_ci42", ""}, {"DELETE", "worlds?idle=1h", ""},
	}
	for _, test := range tests {
		c.succeed(test.method, "/_mock/"+test.path, test.body, "Authorization", "")
	}

	var wanted []exchange
	for path, item := range c.judge.document.Paths.Map() {
		for _, operation := range item.Operations() {
			if strings.HasPrefix(path, "/_mock/") {
				wanted = append(wanted, exchange{operation.OperationID, http.StatusOK})
			}
		}
	}
	if missing := c.judge.missing(wanted); len(missing) > 0 {
		t.Errorf("never seen to succeed: %v; add a request to the table of this test", missing)
	}
}

// The document refuses bodies with unknown, missing and mistyped members, as the control surface does, and describes
// all of its refusals.
func TestControl_EveryRefusalIsAsDocumented(t *testing.T) {
	t.Parallel()
	c := newCaller(t, start(t))
	tests := []struct {
		method, path, body string
		status             int
		document           allowed
	}{
		{"GET", "worlds/nowhere", "", 404, valid},
		{"GET", "ledger?wallet=VA-1", "", 404, valid},
		{"GET", "stubs?world=nowhere", "", 404, valid},
		{"GET", "journal?status=many", "", 400, valid},
		{"GET", "journal?status=200&wait=1ms", "", 408, valid},
		{"POST", "worlds", `{"name":7}`, 400, invalid},
		{"POST", "worlds", `{"name":"x","dialect":{"list":{"max_per_pge":2}}}`, 400, valid},
		{"POST", "faults", `{"rules":[]}`, 400, valid},
		{"POST", "faults", `{"rules":[{"number":1,"fault":{"kind":"drop"}}]}`, 400, invalid},
		{"POST", "faults", `{"rules":[{"fault":{"kind":"fire"}}]}`, 400, valid},
		{"PATCH", "ledger", `{"fund":[{"wallet":"VA-1"}]}`, 400, invalid},
		{"POST", "clock/advance", `{"duration":"1h"}`, 409, valid}, // the clock is real
		{"PATCH", "webhooks/WA-0", `{"active":true}`, 404, valid},
		{"DELETE", "faults?number=9", "", 404, valid},
		{"DELETE", "worlds", "", 400, valid}, // it would close all
		{"POST", "stubs", `{"method":"GET","pattern":"/v1/rates"}`, 400, valid},
		{"DELETE", "stubs?operation=x", "", 404, valid},
		{"GET", "inbox?after=x", "", 400, invalid},
		{"GET", "inbox?wait=1ms", "", 408, valid},
		{"POST", "inbox?status=99", `{}`, 400, valid},
		{"POST", "webhooks", `{"url":9}`, 400, invalid},
	}
	for _, test := range tests {
		c.refuse(test.method+" "+test.path+" "+test.body, test.status, test.document, test.method, "/_mock/"+test.path,
			test.body, "Authorization", "")
	}
}
