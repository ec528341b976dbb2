package api

import (
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
)

// If an operation of the table has no handler, the error names the operation.
func TestRouter_NamesTheOperationWithoutAHandler(t *testing.T) {
	t.Parallel()
	for _, operation := range shipping.Operations() {
		all := new(API).handlers()
		delete(all, operation.Name)
		err := newRouter(nil, all, []shipping.Operation{operation}).err
		if err == nil || !strings.Contains(err.Error(), operation.Name+`" has no handler`) {
			t.Errorf("%s: %v", operation.Name, err)
		}
		if err := newRouter(nil, new(API).handlers(), []shipping.Operation{operation}).err; err != nil {
			t.Error(err)
		}
	}
}
