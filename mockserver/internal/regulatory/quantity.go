package regulatory

import (
	"strconv"

	"github.com/shipping-go/shipping"
)

// Quantity is a number of pieces. In JSON it is a whole number, however it is written: 2, 2.0 and 2e0 are the
// same number.
type Quantity int

// UnmarshalJSON implements [json.Unmarshaler]. Like an amount that cannot be read, anything but a whole number
// does not fail the body around it; it is 0, which is refused with everything else that is wrong.
func (q *Quantity) UnmarshalJSON(text []byte) error {
	*q = 0
	if text[0] == '"' {
		return nil
	}
	number, err := shipping.ParseAmount(string(text))
	if err != nil {
		return nil
	}
	n, err := strconv.Atoi(number.String()) // without decimals if it is whole
	if err != nil {
		return nil
	}
	*q = Quantity(n)
	return nil
}
