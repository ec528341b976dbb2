package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
)

const (
	csvName   = "ledger.csv"
	partName  = "ledger.csv.part"
	tokenName = "ledger.token"
)

// columns of the CSV. "listed" is the amount as the service has it, "amount" what counts: negative for
// money that left, 0 for failed transactions, empty if it cannot be booked.
func columns() []string {
	return []string{
		"created_at", "transaction_id", "description", "shipment_id", "flow", "status",
		"listed", "amount", "currency", "reversed", "doubt",
	}
}

// token is the state of an unfinished export: the length of the valid part of the file, and the place in the list.
// Rows written after it are written again, so that none is lost or doubled by a crash in between.
type token struct {
	Wallet   string `json:"wallet"`
	PerPage  int    `json:"per_page"`
	Resume   string `json:"resume"`
	Bytes    int64  `json:"bytes"`
	Unbooked int    `json:"unbooked"`
}

// export writes the CSV, newest rows first as the service lists them, and returns how many rows could
// not be booked. The CSV gets its name only when it is whole.
func (j *job) export(ctx context.Context, progress func(shipping.ListProgress)) (unbooked int, err error) {
	part, at := filepath.Join(j.out, partName), filepath.Join(j.out, tokenName)
	file, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	t, err := j.pickUp(file, at)
	if err != nil {
		return 0, err
	}
	rows := csv.NewWriter(file)
	if t.Resume == "" {
		if err := rows.Write(columns()); err != nil {
			return 0, err
		}
	}
	list := &shipping.TransactionListOptions{
		Wallet: j.wallet, PerPage: j.perPage, Walk: shipping.Walk{Resume: t.Resume, Progress: progress},
	}
	for page, err := range j.client.Transactions.Pages(ctx, list) {
		if err != nil {
			return t.Unbooked, err
		}
		for i := range page.Items {
			row, booked := line(&page.Items[i])
			if !booked {
				t.Unbooked++
			}
			if err := rows.Write(row); err != nil {
				return t.Unbooked, err
			}
		}
		t.Resume = page.Resume
		if err := t.save(at, file, rows); err != nil {
			return t.Unbooked, err
		}
	}
	rows.Flush()
	if err := errors.Join(rows.Error(), file.Sync(), file.Close()); err != nil {
		return t.Unbooked, err
	}
	if err := os.Rename(part, filepath.Join(j.out, csvName)); err != nil {
		return t.Unbooked, err
	}
	if err := os.Remove(at); err != nil && !errors.Is(err, os.ErrNotExist) {
		return t.Unbooked, err
	}
	return t.Unbooked, nil
}

// pickUp reads where an earlier run stopped, and leaves the file as it was then.
func (j *job) pickUp(file *os.File, path string) (token, error) {
	fresh := token{Wallet: j.wallet, PerPage: j.perPage}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fresh, err
	}
	t := fresh
	if len(data) > 0 {
		if err := shipping.RawJSON(data).Decode(&t); err != nil {
			return fresh, fmt.Errorf("%s: %w; delete it to start over", path, err)
		}
		if t.Wallet != fresh.Wallet || t.PerPage != fresh.PerPage {
			return fresh, fmt.Errorf("%s holds an unfinished export (-wallet %s -per-page %d): finish that one, choose another -out, or delete %s to start over",
				j.out, t.Wallet, t.PerPage, path)
		}
	}
	info, err := file.Stat()
	if err != nil {
		return fresh, err
	}
	if info.Size() < t.Bytes { // the file is gone or not the one that the token is about
		t = fresh
	}
	if err := file.Truncate(t.Bytes); err != nil {
		return fresh, err
	}
	_, err = file.Seek(t.Bytes, io.SeekStart)
	return t, err
}

// save records the rows written so far.
func (t *token) save(path string, file *os.File, rows *csv.Writer) error {
	rows.Flush()
	if err := errors.Join(rows.Error(), file.Sync()); err != nil {
		return err
	}
	var err error
	if t.Bytes, err = file.Seek(0, io.SeekCurrent); err != nil {
		return err
	}
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return writeWhole(path, data)
}

// line is a transaction as a row, and whether its amount could be booked.
func line(t *shipping.Transaction) (row []string, booked bool) {
	signed, err := t.Signed()
	amount, doubt := signed.String(), t.Doubt()
	if err != nil {
		amount, doubt = "", strings.TrimPrefix(err.Error(), "shipping: ")
	}
	created := ""
	if !t.CreatedAt.IsZero() {
		created = t.CreatedAt.UTC().Format(time.RFC3339Nano)
	}
	return []string{
		created, text(t.TransactionID), text(t.Description), text(t.ShipmentID()), text(string(t.Flow)),
		text(string(t.Status)), t.Amount.String(), amount, text(t.Currency), strconv.FormatBool(t.Reversed), doubt,
	}, err == nil
}

// text prevents a spreadsheet from reading a description as a formula.
func text(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// writeWhole leaves no half-written file behind, whenever it is interrupted.
func writeWhole(path string, data []byte) error {
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
