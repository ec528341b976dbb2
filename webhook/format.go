package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/shipping-go/shipping/internal/logfile"
)

// storeFormat is the format of the file of a [FileStore]: a [logfile] whose objects are accepted notifications, with
// their ids, escaped like a URL's path segment, and the times of their claims.
func storeFormat() logfile.Format {
	return logfile.Format{Name: "shipping-webhook-store", Version: 1, Noun: "store of notifications",
		Foreign: errStoreForeign, Damaged: errStoreDamaged, Changed: ErrStoreMoved, Moved: ErrStoreMoved}
}

var (
	errStoreDamaged = errors.New("damaged: restore the file from a copy, or move it away: without it, notifications " +
		"that were accepted before can be handled again")
	errStoreForeign = errors.New("the file is not a store of notifications, and was not changed; choose another path")
)

// storeEntry is an accepted notification.
type storeEntry struct {
	id string
	at time.Time
}

func (e storeEntry) object() []byte {
	return fmt.Appendf(nil, `{"id":"%s","at":"%s"}`, url.PathEscape(e.id), e.at.UTC().Format(time.RFC3339Nano))
}

func parseEntry(object []byte) (storeEntry, error) {
	var fields struct {
		ID string    `json:"id"`
		At time.Time `json:"at"`
	}
	err := json.Unmarshal(object, &fields)
	id, escaped := url.PathUnescape(fields.ID)
	if err != nil || escaped != nil {
		return storeEntry{}, errStoreDamaged
	}
	return storeEntry{id, fields.At}, nil
}
