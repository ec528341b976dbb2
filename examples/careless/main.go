// Careless purchases the automated documents of a shipment without the client of this project, the way everybody writes
// it first: after any error it starts over. docs/sweep.md shows what mockserver sweep finds in it, and what mends it:
//
//	go build -o careless ./examples/careless
//	mockserver sweep -- ./careless -shipment {shipment}                               # pays twice
//	mockserver sweep -- ./careless -give-up -shipment {shipment}                      # loses track of a purchase
//	mockserver sweep -restart -- ./careless -careful -notes {dir} -shipment {shipment} # passes
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
	"time"
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
		return r, errors.New(resp.Status)
	}
	err = json.NewDecoder(resp.Body).Decode(&struct{ Data any }{&r})
	if err == nil && r.ID == "" {
		err = errors.New("the response has no request")
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

// careful purchases only a request that it has written down and read as a draft. After a purchase without a clear
// response it reads the request. Started again, it continues with the request that it has written down.
func careful(shipment, notes string) error {
	var r request
	var err error
	note := filepath.Join(notes, "request")
	if id, unread := os.ReadFile(note); unread == nil {
		r, err = call("GET", "request/"+string(id), nil)
	} else if r, err = call("POST", "analyze", map[string]string{"shipment_id": shipment}); err == nil {
		err = os.WriteFile(note, []byte(r.ID), 0o600)
	}
	if err != nil || r.Status != "draft" {
		return err
	}
	if purchase(r) == nil {
		return nil
	}
	for range 3 {
		time.Sleep(100 * time.Millisecond)
		var now request
		if now, err = call("GET", "request/"+r.ID, nil); err == nil && now.Status != "draft" {
			return nil
		}
	}
	return errors.Join(errors.New("it is unknown whether "+r.ID+" was purchased: start again to look"), err)
}

func main() {
	giveUp := flag.Bool("give-up", false, "give up after an error")
	carefully := flag.Bool("careful", false, "write the request down before the purchase, and read it after any error")
	shipment := flag.String("shipment", "", "the `shipment`, such as SH-7Q2M…")
	notes := flag.String("notes", ".", "with -careful: the `folder` to write to")
	flag.Parse()
	var err error
	switch {
	case *carefully:
		err = careful(*shipment, *notes)
	case *giveUp:
		err = analyzeAndPurchase(*shipment)
	default:
		for range 3 {
			if err = analyzeAndPurchase(*shipment); err == nil {
				break
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "careless:", err)
		os.Exit(1)
	}
}
