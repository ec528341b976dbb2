package shipping

import (
	"fmt"

	"github.com/shipping-go/shipping/internal/jsonscan"
)

// An element of a list takes the memory of a whole record however short it is: a million bytes of "0,0,0"
// would become a gigabyte of rates. So beside the bytes of an answer, the elements of its lists are bounded:
// one for each elementShare bytes that an answer may have, and fewestElements whatever that is. Documented
// records are several times as long.
const (
	elementShare   = 256
	fewestElements = 4096
)

// crowded is the error of an answer whose lists, taken together, hold too many elements.
func (c *core) crowded(body []byte) error {
	most := int(max(fewestElements, min(c.maxBody/elementShare, 1<<30)))
	if !jsonscan.Crowded(body, most) {
		return nil
	}
	return fmt.Errorf("%w: its lists hold more than %d elements", ErrBodyTooLarge, most)
}
