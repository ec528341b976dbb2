package delivery

import (
	"encoding/binary"
	"hash/fnv"
	"io"
)

// Mark returns a number that is another one once a delivery was queued, tried or forgotten. It costs a
// look at each delivery of the log.
func (d *Dispatcher) Mark() uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	mark := fnv.New32a()
	for _, delivery := range d.log {
		// A hash takes every write.
		_, _ = io.WriteString(mark, delivery.ID)
		_, _ = mark.Write(binary.BigEndian.AppendUint32(nil, uint32(len(delivery.Attempts))))
		_, _ = io.WriteString(mark, string(delivery.State))
	}
	return mark.Sum32()
}
