package transport

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
)

func TestBodiesAreReadWholeWhateverLengthTheyAnnounce(t *testing.T) {
	t.Parallel()
	pool := &buffers{}
	for _, size := range []int{0, 1, 511, 512, unannouncedBody - 1, unannouncedBody, unannouncedBody + 1, 300_000, 1 << 20} {
		text := strings.Repeat("x", size)
		for _, announced := range []int64{-1, 0, 1, int64(size), int64(size) + 1} {
			for name, limit := range map[string]int{"far": 1 << 21, "exact": max(size, int(announced))} {
				got, err := pool.read(strings.NewReader(text), announced, int64(limit))
				if err != nil || string(got) != text {
					t.Errorf("%d bytes announced as %d, limit %s: %d bytes, %v", size, announced, name, len(got), err)
				}
				pool.put(got)
			}
			if size == 0 {
				continue
			}
			fresh := &buffers{} // a buffer of the pool may be larger than this body needs
			got, err := fresh.read(iotest.HalfReader(strings.NewReader(text)), announced, int64(size)-1)
			if !errors.Is(err, ErrBodyTooLarge) || len(got) > size-1 || cap(got) > 2<<20 {
				t.Errorf("%d bytes announced as %d, one too many: %d bytes, %v", size, announced, len(got), err)
			}
		}
	}
}
