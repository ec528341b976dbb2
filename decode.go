package shipping

import (
	"sync"

	"github.com/shipping-go/shipping/internal/jsonread"
)

// responses returns the reader of everything that the service sends. The fields of a record are those of its
// struct: its tags say how they are read.
var responses = sync.OnceValue(func() *jsonread.Reader {
	return jsonread.New(
		jsonread.Custom("number", readAmount, func(a *Amount) { *a = Amount{state: amountUnreadable} }),
		jsonread.Custom("", func(d *jsonread.Decoder, r *RawJSON) { *r = RawJSON(d.RawText()) }, nil),
		jsonread.Custom("", readRequestData, (*requestData).givenTwice),
		jsonread.Custom("", func(d *jsonread.Decoder, s *envelopeStatus) { d.Read(&s.value) }, func(s *envelopeStatus) { s.several = true }),
	)
})

func readAmount(d *jsonread.Decoder, a *Amount) { *a = amountOf(d.Raw()) }

// readJSON reads a part of a response. What cannot be read leaves its field zero.
func readJSON(text []byte, into any) error {
	return responses().Read(text, into, jsonread.Options{})
}

// An element of a list takes the memory of a whole record however short it is: a million bytes of "0,0,0"
// would become a gigabyte of rates. So beside the bytes of a response, the elements of its lists are bounded:
// one for each elementShare bytes that a response may have, and at least fewestElements. Documented records
// are several times as long.
const (
	elementShare   = 256
	fewestElements = 4096
)

func maxElements(maxBody int64) int {
	return int(max(fewestElements, min(maxBody/elementShare, 1<<30)))
}
