package shippingtest

import (
	"context"
	"iter"
	"reflect"
	"strings"

	"github.com/shipping-go/shipping"
)

// List is a method List of a service of the client. Tests of lists follow the services, so that a new list is in all of
// them.
type List struct {
	Name      string       // such as "rates": the member of data that has the records, and the name of the golden response
	Operation string       // such as "rates.list"; the table of operations has it
	Record    reflect.Type // such as shipping.Rate
	Paged     bool         // false: data is a bare array

	service string
	options reflect.Type // nil: List takes none
}

// Lists returns the lists of the client, in the order of its services.
func Lists() (lists []List) {
	for service := range reflect.TypeFor[shipping.Client]().Fields() {
		method, has := service.Type.MethodByName("List")
		if !has {
			continue
		}
		name := strings.ToLower(service.Name)
		l := List{Name: name, Operation: name + ".list", service: service.Name}
		if method.Type.NumIn() > 3 { // the service, the context, the options of the list, the options of the call
			l.options = method.Type.In(2).Elem()
		}
		records := method.Type.Out(0)
		if l.Paged = records.Kind() == reflect.Pointer; l.Paged {
			items, _ := records.Elem().FieldByName("Items")
			records = items.Type
		}
		l.Record = records.Elem()
		lists = append(lists, l)
	}
	return lists
}

// Query returns the query that the list needs: the wallet, if the list has one.
func (l List) Query(wallet string) string {
	if l.ofWallet() {
		return "wallet=" + wallet
	}
	return ""
}

func (l List) ofWallet() bool {
	if l.options == nil {
		return false
	}
	_, has := l.options.FieldByName("Wallet")
	return has
}

// Get calls List. It returns a slice of records, and the pagination object if the list has one.
func (l List) Get(ctx context.Context, c *shipping.Client, wallet string,
	options ...shipping.CallOption) (records any, pagination shipping.Pagination, err error) {
	out := l.call("List", ctx, c, wallet, options)
	if err, _ := out[1].Interface().(error); err != nil {
		return nil, pagination, err
	}
	if !l.Paged {
		return out[0].Interface(), pagination, nil
	}
	page := out[0].Elem()
	return page.FieldByName("Items").Interface(), page.FieldByName("Pagination").Interface().(shipping.Pagination), nil
}

// All calls All, or List if the list has no pages.
func (l List) All(ctx context.Context, c *shipping.Client, wallet string) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		if !l.Paged {
			yield(first(l.Get(ctx, c, wallet)))
			return
		}
		for record, err := range l.call("All", ctx, c, wallet, nil)[0].Seq2() {
			failure, _ := err.Interface().(error)
			if !yield(record.Interface(), failure) {
				return
			}
		}
	}
}

func first(records any, _ shipping.Pagination, err error) (any, error) { return records, err }

func (l List) call(method string, ctx context.Context, c *shipping.Client, wallet string,
	options []shipping.CallOption) []reflect.Value {
	in := []reflect.Value{reflect.ValueOf(&ctx).Elem()} // not of ctx, which may be nil
	if l.options != nil {
		of := reflect.New(l.options)
		if l.ofWallet() {
			of.Elem().FieldByName("Wallet").SetString(wallet)
		}
		in = append(in, of)
	}
	return reflect.ValueOf(c).Elem().FieldByName(l.service).MethodByName(method).CallSlice(append(in,
		reflect.ValueOf(options)))
}

// Data returns the data of a response with records, which are separated by commas, and an empty pagination object.
func (l List) Data(records string) string {
	if !l.Paged {
		return "[" + records + "]"
	}
	return `{"` + l.Name + `":[` + records + `],"pagination":{}}`
}
