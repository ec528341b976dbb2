package api

import (
	"net/http"
	"sync"

	"github.com/shipping-go/shipping/mockserver/internal/records"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// pageCache caches encoded pages that are requested repeatedly. The key of a page contains the edition of its list, so
// a page from before a change is never found after it. Worlds that began with the same contents share pages until one
// of them changes.
type pageCache struct {
	mu    sync.Mutex
	slots [16]cachedPage
	next  int // the slot to reuse next
}

// The longest page in the cache; all slots together take at most 2 MiB.
const longestCachedPage = 128 << 10

type pageKey struct {
	edition *records.Edition
	Paging
	oldestFirst bool
}

type cachedPage struct {
	key  pageKey
	body []byte // nil after the first request of the page; else immutable
}

// reply returns the page of a key, from the cache or encoded into the buffer. At the second request the page is
// encoded into new memory and cached, so that iterating over a list, which requests each page once, caches nothing.
// The caller holds the lock of the list's world.
func (c *pageCache) reply(key pageKey, buffer []byte, encode func(dst []byte) []byte) wire.Reply {
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

// find returns a cached page, and whether it was requested before. It records the request.
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
