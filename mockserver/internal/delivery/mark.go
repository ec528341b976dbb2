package delivery

import (
	"encoding/binary"
	"hash/fnv"
	"io"
)

// Mark returns a number that changes if a delivery is queued, attempted or dropped. Its cost grows with the length of
// the log.
func (d *Dispatcher) Mark() uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	mark := fnv.New32a()
	for _, delivery := range d.log {
		// A hash does not fail.
		_, _ = io.WriteString(mark, delivery.ID)
		_, _ = mark.Write(binary.BigEndian.AppendUint32(nil, uint32(len(delivery.Attempts))))
		_, _ = io.WriteString(mark, string(delivery.State))
	}
	return mark.Sum32()
}
