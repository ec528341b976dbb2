package mockserver_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// contents is everything that the service and the control surface show of a world.
func contents(t *testing.T, srv *mockserver.Server, w *mockserver.World) map[string]string {
	t.Helper()
	shown := map[string]string{}
	paths := []string{"/_mock/ledger?perPage=5000", "/_mock/deliveries?perPage=5000"}
	for _, list := range shippingtest.Lists() {
		for _, wallet := range w.Wallets() { // one path for each, if the list is of a wallet
			paths = append(paths, shippingtest.Operation(list.Operation).Route+"?perPage=1000&"+list.Query(wallet))
		}
	}
	for _, path := range paths {
		shown[path] = string(as(t, srv, w.SecretKey, "GET", path, "").want(t, http.StatusOK).body)
	}
	return shown
}

// A server continues where another one ended: with the same data, the same pending events and the same next
// identifiers. The worlds have the address of the new server. Records and notifications keep their bytes: a state file
// wrote <, > and & as escapes.
func TestState_GoesOnInAnotherServer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	first := start(t, virtual(), realistic(), mockserver.WithState(path), mockserver.WithDeliveryTransport(nowhere{}))
	if _, err := first.AddWebhook(notify.Webhook{Name: "a < b & c", URL: "http://127.0.0.1:1/", Events: []string{"test"}}); err != nil {
		t.Fatal(err)
	}
	sent, err := first.Emit(notify.Event{Kind: "test", Data: json.RawMessage("{ \"note\": \"a < b & c \u2028\" }")})
	if err != nil {
		t.Fatal(err)
	}
	ci, err := first.Open("rows2000_ci")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []*mockserver.World{first.World, ci} {
		buy(t, first, w)
		if _, err := w.Advance(time.Second); err != nil {
			t.Fatal(err)
		}
	}
	wantHome, wantCI := contents(t, first, first.World), contents(t, first, ci)
	next := func(srv *mockserver.Server) string {
		return post(t, srv, regulatoryPath+"/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`).text(t, "request_id")
	}
	if err := first.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text := unpacked(t, file); strings.Contains(text, first.SecretKey) || strings.Contains(text, "sk_") {
		t.Error("the file holds a key")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the file: %v (%v)", info.Mode(), err)
	}

	second, third := start(t, virtual(), realistic(), mockserver.WithState(path)), start(t, virtual(), realistic())
	if err := third.LoadState(path); err != nil {
		t.Fatal(err)
	}
	if got := len(second.Worlds()); got != 2 {
		t.Fatalf("%d worlds", got)
	}
	if diff := cmp.Diff(wantHome, contents(t, second, second.World)); diff != "" {
		t.Errorf("home world (-saved +restored):\n%s", diff)
	}
	if got, err := second.WaitDelivery(t.Context(), sent[0].ID); err != nil || !bytes.Equal(got.Payload, sent[0].Payload) {
		t.Errorf("the notification is %s (%v), and was %s", got.Payload, err, sent[0].Payload)
	}
	if diff := cmp.Diff(wantCI, contents(t, second, second.Worlds()[1])); diff != "" {
		t.Errorf("other world (-saved +restored):\n%s", diff)
	}
	for _, w := range second.Worlds() {
		if w.URL == "" || w.URL != second.URL {
			t.Errorf("world %s has the address %q, want %q", w.Name(), w.URL, second.URL)
		}
		if _, err := w.Client(t).Rates.List(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	if a, b := next(second), next(third); a != b {
		t.Errorf("the next request is %s in one and %s in the other", a, b)
	}
	if fired, err := second.Advance(2 * time.Second); err != nil || len(fired) != 1 {
		t.Errorf("after the two seconds that were left fired %v (%v)", fired, err)
	}
	if err := second.Check(); err != nil {
		t.Error(err)
	}
}

// A world keeps the assumptions that it was opened with, and so does its fork.
func TestState_KeepsAssumptionsOfAWorld(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	first := start(t, mockserver.WithoutListener())
	const open = `{"name":"default_other","preset":"contrary","assumptions":{"PerPageCap":7}}`
	keys := []string{
		post(t, first, "/_mock/worlds", open).want(t, http.StatusOK).text(t, "secret_key"),
		post(t, first, "/_mock/worlds", `{"from":"default_other","name":"fork"}`).want(t, http.StatusOK).text(t, "secret_key"),
	}
	do(t, first, http.MethodPatch, "/_mock/assumptions", `{"preset":"contrary","assumptions":{"PerPageCap":7}}`).want(t, http.StatusOK)
	keys = append(keys, first.SecretKey)
	if err := first.SaveState(path); err != nil {
		t.Fatal(err)
	}
	second := start(t, mockserver.WithoutListener())
	for range 2 { // the second time the worlds are open
		if err := second.LoadState(path); err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if got := as(t, second, key, "GET", "/v1/rates?perPage=1000", "").want(t, http.StatusOK); got.at(t, "data.pagination.perPage") != 7.0 {
				t.Errorf("%s: %s", key, got.body)
			}
			as(t, second, key, "GET", "/v1/transactions", "").want(t, http.StatusUnprocessableEntity) // 400 by default
		}
	}

	third := start(t, mockserver.WithoutListener())
	if _, err := third.Open("default_fork"); err != nil {
		t.Fatal(err)
	}
	if err := third.LoadState(path); !errors.Is(err, mockserver.ErrStateFile) || !strings.Contains(err.Error(), "with other assumptions") || len(third.Worlds()) != 2 {
		t.Errorf("a world that is open with other assumptions: %v, and %d worlds are open", err, len(third.Worlds()))
	}
}

// packed returns text as a state file has it.
func packed(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	_, err := io.WriteString(writer, text)
	if err := errors.Join(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unpacked returns the text of a state file.
func unpacked(t *testing.T, file []byte) string {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A file that cannot be used is refused with the reason; the server changes nothing, and leaves the file as it is.
func TestState_BadFilesAreRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "good.json")
	srv := start(t)
	if err := srv.SaveState(path); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(old, new string) []byte {
		text := unpacked(t, good)
		if !strings.Contains(text, old) {
			t.Fatalf("the file has no %s", old)
		}
		return packed(t, strings.Replace(text, old, new, 1))
	}
	damaged := bytes.Clone(good)
	damaged[len(damaged)/2] ^= 1
	const header = `{"format":"mockserver-state","version":3}` + "\n"
	tests := []struct {
		name string
		text []byte
		want string
	}{
		{"empty", nil, "EOF"},
		{"cut", good[:len(good)/2], "unexpected EOF"},
		{"without the checksum", good[:len(good)-8], "unexpected EOF"},
		{"one bit changed", damaged, ""},
		{"not compressed", []byte(header), "gzip"},
		{"another format", replaced("mockserver-state", "something"), `format "something"`},
		{"a later version", replaced(`"version":3`, `"version":4`), "version 4; this program reads"},
		{"no contents", packed(t, header+`{"name":"home"}`), "not complete"},
		{"no object", packed(t, header+`{}`), "not complete"},
		{"an impossible name", replaced(`"name":"home"`, `"name":"../etc"`), "a key is"},
		{"an unknown scenario", replaced(`"name":"home"`, `"name":"lots_x"`), "unknown scenario"},
		{"money from nowhere", replaced(`"balance":48000000`, `"balance":58000000`), "entry 0"},
	}
	running, bad := start(t, mockserver.WithoutListener()), filepath.Join(t.TempDir(), "bad.json")
	before := contents(t, running, running.World)
	for _, test := range tests {
		if err := os.WriteFile(bad, test.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := running.LoadState(bad); !errors.Is(err, mockserver.ErrStateFile) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q in it", test.name, err, test.want)
		}
	}
	if diff := cmp.Diff(before, contents(t, running, running.World)); diff != "" || len(running.Worlds()) != 1 {
		t.Errorf("%d worlds, and the home world changed:\n%s", len(running.Worlds()), diff)
	}
	starting := mockserver.New(mockserver.WithoutListener(), mockserver.WithState(bad))
	t.Cleanup(starting.Close)
	if err := errors.Join(starting.Err(), starting.Shutdown(t.Context())); !errors.Is(err, mockserver.ErrStateFile) {
		t.Errorf("a server that starts with it: %v", err)
	}
	if after, err := os.ReadFile(bad); err != nil || !bytes.Equal(after, tests[len(tests)-1].text) {
		t.Errorf("the file changed (%v)", err)
	}
	if err := srv.LoadState(filepath.Join(t.TempDir(), "missing.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A state file belongs to one server at a time, whatever path names it. Otherwise the last server to stop would erase the
// purchases of the other.
func TestState_BelongsToOneServer(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, link := filepath.Join(folder, "state.json"), filepath.Join(folder, "link.json")
	if err := os.Symlink("state.json", link); err != nil {
		t.Fatal(err)
	}
	first := start(t, mockserver.WithState(path))
	if err := first.SaveState(path); err != nil { // a link without a target cannot be resolved
		t.Fatal(err)
	}
	second := mockserver.New(mockserver.WithState(link))
	defer second.Close()
	if err := second.Err(); !errors.Is(err, mockserver.ErrStateFile) || !strings.Contains(err.Error(), "another server uses it") {
		t.Errorf("a second server: %v", err)
	}
	if err := first.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	start(t, mockserver.WithState(path))
}

// If the state file is a symbolic link, its target is written, and no other file is left.
func TestState_IsWrittenThroughALink(t *testing.T) {
	t.Parallel()
	folder, other := t.TempDir(), t.TempDir()
	path, link := filepath.Join(other, "state.json"), filepath.Join(folder, "link.json")
	if err := errors.Join(start(t).SaveState(path), os.Symlink(path, link), os.WriteFile(path+".new", []byte("left by a crash"), 0o600)); err != nil {
		t.Fatal(err)
	}
	srv := start(t, mockserver.WithState(link))
	if err := srv.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := srv.SaveState(filepath.Join(path, "nowhere")); err == nil {
		t.Error("saved below a file")
	}
	if about, err := os.Lstat(link); err != nil || about.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is now %v, %v", about, err)
	}
	if found, err := os.ReadDir(other); err != nil || len(found) != 1 {
		t.Errorf("the folder has %v, %v", found, err)
	}
}
