package jsontext

import "testing"

func TestWriter_WritesEachKindOfMember(t *testing.T) {
	t.Parallel()
	type inner struct {
		Number int `json:"number"`
	}
	type record struct {
		Absent string   `json:"absent,omitempty"`
		Texts  []string `json:"texts"`
		None   *inner   `json:"none"`
		Some   *inner   `json:"some"`
		Hidden string   `json:"-"`
	}
	got := string(NewWriter[record]().Append([]byte("x"), &record{Texts: []string{"a<b"}, Some: &inner{7}, Hidden: "secret"}))
	if want := `x{"texts":["a<b"],"none":null,"some":{"number":7}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
