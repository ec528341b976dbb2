package regulatory

import (
	"strconv"

	"github.com/shipping-go/shipping"
)

// Quantity is a number of pieces. In JSON it is a whole number in any notation: 2, 2.0 and 2e0 are equal.
type Quantity int

// UnmarshalJSON implements [json.Unmarshaler]. A value that is not a whole number is not an error, so that the rest of
// the body is read; it becomes 0, which is refused together with the other problems.
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
