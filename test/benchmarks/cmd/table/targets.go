package main

// target is a limit that the project set itself.
type target struct {
	text  string
	limit float64
	// measured returns the value for a variant, in the unit of the limit.
	measured func(*findings, variant) (spread, bool)
	format   string
}

// targets are the limits on the client, in the order of the design.
func targets() []target {
	const list, transactions = "List/100 rates/", "List/100 transactions/"
	return []target{
		{"list of 100 rates: time, share of raw", 0.40, ratio(list, "ns/op"), "%.2f"},
		{"list of 100 rates: bytes allocated, share of raw", 0.50, ratio(list, "B/op"), "%.2f"},
		{"list of 100 rates: allocations, share of raw", 1.00, ratio(list, "allocs/op"), "%.2f"},
		{"list of 100 transactions: time, share of raw", 0.40, ratio(transactions, "ns/op"), "%.2f"},
		{"list of 100 transactions: bytes allocated, share of raw", 0.50, ratio(transactions, "B/op"), "%.2f"},
		{"list of 100 transactions: allocations, share of raw", 1.00, ratio(transactions, "allocs/op"), "%.2f"},
		{"one rate: time, share of raw", 1.10, ratio("One/one rate/", "ns/op"), "%.2f"},
		{"one transaction: time, share of raw", 1.10, ratio("One/one transaction/", "ns/op"), "%.2f"},
		{"one regulatory request: time, share of raw", 1.10, ratio("One/one request/", "ns/op"), "%.2f"},
		{"20 pages at 20 ms each, fast consumer: ms", 90, milliseconds("Pages/fast consumer/shipping"), "%.0f"},
		{"the same, consumer of 20 ms a page: share of the consumer's own time", 1.10, reported("Pages/slow consumer/shipping", "x-consumer"), "%.2f"},
		{"walk over all transactions: largest heap of the second half, share of the first", 1.10, reported("Walk/all transactions/shipping", "heap-growth"), "%.2f"},
		{"program that lists rates, stripped: MB over raw", 0.50, extraSize("shipping"), "%.2f"},
	}
}

func ratio(contest, unit string) func(*findings, variant) (spread, bool) {
	return func(f *findings, v variant) (spread, bool) {
		return f.runs[v.name].ratio(contest+"shipping", contest+"raw", unit)
	}
}

func reported(name, unit string) func(*findings, variant) (spread, bool) {
	return func(f *findings, v variant) (spread, bool) { return f.runs[v.name].value(name, unit) }
}

func milliseconds(name string) func(*findings, variant) (spread, bool) {
	return func(f *findings, v variant) (spread, bool) {
		s, ok := f.runs[v.name].value(name, "ns/op")
		return spread{s.median / 1e6, s.least / 1e6, s.most / 1e6}, ok
	}
}

func extraSize(program string) func(*findings, variant) (spread, bool) {
	return func(f *findings, v variant) (spread, bool) {
		extra := float64(f.sizes[v.name][program]-f.sizes[v.name]["raw"]) / 1e6
		return spread{extra, extra, extra}, true
	}
}
