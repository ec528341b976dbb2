package api

import (
	"net/http"
	"sync"

	"github.com/shipping-go/shipping/mockserver/internal/records"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// pageCache keeps the pages that are asked for again and again as they are answered. A page belongs to an
// edition of its list, so one that was made before a change is never found after it; worlds that began as
// the same share theirs until one of them changes.
type pageCache struct {
	mu    sync.Mutex
	slots [16]cachedPage
	next  int // the slot that is given away next
}

// Longest page kept; all slots together take 2 MiB at most.
const longestCachedPage = 128 << 10

type pageKey struct {
	edition *records.Edition
	Paging
	lastPageNull, oldestFirst bool
}

type cachedPage struct {
	key  pageKey
	body []byte // nil while the page was asked for only once; else never changed
}

// answer returns the page of a key: as it was kept, or encoded into the buffer. The second time it is
// encoded into memory of its own and kept, so that a walk, which asks for each page once, keeps nothing.
// The caller holds the lock of the list's world.
func (c *pageCache) answer(key pageKey, buffer []byte, encode func(dst []byte) []byte) wire.Reply {
	body, again := c.find(key)
	if body != nil {
		return wire.Reply{Status: http.StatusOK, Body: body}
	}
	if !again {
		return wire.Reply{Status: http.StatusOK, Body: encode(buffer), Pooled: true}
	}
	body = encode(nil)
	if len(body) <= longestCachedPage {
		c.keep(key, body)
	}
	return wire.Reply{Status: http.StatusOK, Body: body}
}

// find returns what is kept of a page, and whether it was asked for before; a page that was not is noted.
func (c *pageCache) find(key pageKey) (body []byte, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.slots {
		if c.slots[i].key == key {
			return c.slots[i].body, true
		}
	}
	c.slots[c.next] = cachedPage{key: key}
	c.next = (c.next + 1) % len(c.slots)
	return nil, false
}

func (c *pageCache) keep(key pageKey, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.slots {
		if c.slots[i].key == key {
			c.slots[i].body = body
		}
	}
}
