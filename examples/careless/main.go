// Careless purchases the automated documents of a shipment without the client of this project, the way everybody writes
// it first: after any error it starts over. docs/sweep.md shows what mockserver sweep finds in it, and how to fix it:
//
//	go build -o careless ./examples/careless
//	mockserver sweep -- ./careless -shipment {shipment}                               # pays twice
//	mockserver sweep -- ./careless -give-up -shipment {shipment}                      # loses track of a purchase
//	mockserver sweep -restart -- ./careless -careful -notes {dir} -shipment {shipment} # passes
//
// With -listen it purchases for every new shipment that it is notified of:
//
//	mockserver sweep -notify http://127.0.0.1:{port}/ -- ./careless -listen 127.0.0.1:{port}
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/shipping-go/shipping/webhook"
)

// request is what the program reads of a regulatory request.
type request struct {
	ID        string `json:"request_id"`
	Status    string `json:"status"`
	Documents []struct {
		Type string `json:"document_type"`
		Mode string `json:"mode"`
	} `json:"available_documents"`
}

// refusal is a response that is not a success.
type refusal struct {
	status string
	wait   time.Duration // until the request may be sent again
}

// Error implements error.
func (r *refusal) Error() string { return r.status }

// patience is how long the program waits for a response.
const patience = 5 * time.Second

// call sends a request to the service and reads the regulatory request in the response.
func call(method, path string, in any) (r request, err error) {
	var body io.Reader
	if in != nil {
		text, _ := json.Marshal(in)
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequest(method, os.Getenv("SHIPPING_BASE_URL")+"/v1/regulatory-documents/"+path, body)
	if err != nil {
		return r, err
	}
	req.Header.Set("Authorization", "Bearer "+os.Getenv("SHIPPING_SECRET_KEY"))
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: patience}
	resp, err := client.Do(req)
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // 0 if it has none
		return r, &refusal{resp.Status, time.Duration(seconds) * time.Second}
	}
	envelope := struct {
		Status bool
		Data   any
	}{Data: &r}
	err = json.NewDecoder(resp.Body).Decode(&envelope)
	if err == nil && (!envelope.Status || r.ID == "") {
		err = errors.New("the response is not a success with a request")
	}
	return r, err
}

func purchase(r request) error {
	var types []string
	for _, d := range r.Documents {
		if d.Mode != "manual" {
			types = append(types, d.Type)
		}
	}
	_, err := call("POST", "purchase", map[string]any{"request_id": r.ID, "document_types": types})
	return err
}

// analyzeAndPurchase makes a new request, which can be purchased although another one was.
func analyzeAndPurchase(shipment string) error {
	r, err := call("POST", "analyze", map[string]string{"shipment_id": shipment})
	if err != nil {
		return err
	}
	return purchase(r)
}

// startOver analyzes and purchases again after any error.
func startOver(shipment string) (err error) {
	for range 3 {
		if err = analyzeAndPurchase(shipment); err == nil {
			break
		}
	}
	return err
}

// careful purchases only a request that it has written down and read as a draft. After a purchase without a clear
// response it reads the request. Started again, or notified again, it continues with the request that it has written
// down.
func careful(shipment, notes string) error {
	r, err := noted(shipment, filepath.Join(notes, filepath.Base(shipment)))
	if err != nil || r.Status != "draft" {
		return err
	}
	if err = purchase(r); err == nil {
		return nil
	}
	wait(err)
	now, unread := call("GET", "request/"+r.ID, nil)
	if unread == nil && now.Status != "draft" {
		return nil
	}
	return errors.Join(errors.New("start again to find out whether "+r.ID+" was purchased"), err, unread)
}

// noted returns the request in a note, or a new one that it writes down there.
func noted(shipment, note string) (request, error) {
	if id, err := os.ReadFile(note); err == nil {
		return call("GET", "request/"+string(id), nil)
	}
	r, err := call("POST", "analyze", map[string]string{"shipment_id": shipment})
	if err != nil {
		wait(err)
		return r, err
	}
	return r, errors.Join(os.WriteFile(note+".new", []byte(r.ID), 0o600), os.Rename(note+".new", note))
}

// wait waits as long as a response asks to.
func wait(err error) {
	if refused, ok := errors.AsType[*refusal](err); ok {
		time.Sleep(refused.wait)
	}
}

// serve purchases for each new shipment that it is notified of, one at a time, and responds when it has. After an error
// the service notifies again. If verify is set, it refuses notifications that the service has not signed.
func serve(addr string, verify bool, purchase func(shipment string) error) error {
	var one sync.Mutex
	return http.ListenAndServe(addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var notification struct {
			Event string `json:"event"`
			Data  struct {
				ShipmentID string `json:"shipment_id"`
			} `json:"data"`
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err == nil && verify {
			err = webhook.Verify(r.Header.Get(webhook.DefaultSignatureHeader), body, os.Getenv("SHIPPING_SECRET_KEY"))
		}
		if err == nil {
			err = json.Unmarshal(body, &notification)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if notification.Event != "shipment.created" {
			return
		}
		one.Lock()
		defer one.Unlock()
		if err := purchase(notification.Data.ShipmentID); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
}

func main() {
	giveUp := flag.Bool("give-up", false, "give up after an error")
	carefully := flag.Bool("careful", false,
		"write the request down before the purchase, read it after any error, and verify signatures")
	shipment := flag.String("shipment", "", "the `shipment`, such as SH-7Q2M…")
	listen := flag.String("listen", "", "receive notifications at this `address`, and purchase for the shipments in them")
	notes := flag.String("notes", ".", "with -careful: the `folder` to write to")
	flag.Parse()
	purchase := startOver
	switch {
	case *carefully:
		purchase = func(shipment string) error { return careful(shipment, *notes) }
	case *giveUp:
		purchase = analyzeAndPurchase
	}
	var err error
	switch {
	case os.Getenv("SHIPPING_BASE_URL") == "":
		err = errors.New("SHIPPING_BASE_URL is not set: export it, or run this program with mockserver sweep")
	case *listen != "":
		err = serve(*listen, *carefully, purchase)
	case *shipment == "":
		err = errors.New("-shipment SH-… or -listen is required")
	default:
		err = purchase(*shipment)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "careless:", err)
		os.Exit(1)
	}
}
