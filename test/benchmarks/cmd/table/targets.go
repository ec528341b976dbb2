package main

// target is a limit that the project set itself.
type target struct {
	text   string
	before string // in the first variant, at commit c1f1f8e; "–" if it was not measured
	// limit is that of the first variant, jsonv2 that of the other; 0 is none, because raw itself is faster there and
	// nothing was promised.
	limit, jsonv2 float64
	// measured returns the value for a variant, in the unit of the limit.
	measured func(*findings, variant) (spread, bool)
	format   string
}

const (
	cpuTime     = "cpu-ns/op"
	memory      = "B/op"
	allocations = "allocs/op"
)

// targets are the limits on the client, in the order of the design.
func targets() []target {
	const list, transactions, forms = "List/100 rates/", "List/100 transactions/", "Forms/100 rates, "
	const smallest = "One/the smallest request/"
	all := []target{
		{"list of 100 rates: time, share of raw", "0.17", 0.17, 0.29, ratio(list, cpuTime), "%.2f"},
		{"list of 100 rates: bytes allocated, share of raw", "0.37", 0.50, 0.50, ratio(list, memory), "%.2f"},
		{"list of 100 rates: allocations, share of raw", "0.04", 1.00, 1.00, ratio(list, allocations), "%.2f"},
		{"list of 100 transactions: time, share of raw", "0.15", 0.15, 0.30, ratio(transactions, cpuTime), "%.2f"},
		{"list of 100 transactions: bytes allocated, share of raw", "0.33", 0.50, 0.50, ratio(transactions, memory), "%.2f"},
		{"list of 100 transactions: allocations, share of raw", "0.03", 1.00, 1.00, ratio(transactions, allocations), "%.2f"},
	}
	for _, form := range []struct{ name, time, bytes string }{
		{"odd scalars", "11–12", "12.6"}, {"indented", "0.27–0.29", "–"}, {"spaces", "0.27–0.29", "–"}, {"shuffled members", "0.27–0.29", "–"},
	} {
		all = append(all,
			target{"100 rates, " + form.name + ": time, share of raw on the clean page", form.time, 0.25, 0, ratio(forms+form.name+"/", cpuTime), "%.2f"},
			target{"100 rates, " + form.name + ": bytes allocated, share of raw on the clean page", form.bytes, 0.50, 0.50, ratio(forms+form.name+"/", memory), "%.2f"})
	}
	return append(all,
		target{"list of 100 rates with drift report: time, times that without", "57", 3, 3, share("Drift/100 rates/with report", "Drift/100 rates/list", cpuTime), "%.2f"},
		target{"the same on odd scalars, seven differences in each record", "–", 3, 3, share("Drift/100 rates, odd scalars/with report", "Drift/100 rates, odd scalars/list", cpuTime), "%.2f"},
		target{"one regulatory request of 6 KB: time, share of raw", "0.24", 0.20, 0, ratio("One/one request of 6 KB/", cpuTime), "%.2f"},
		target{"the smallest request: time, share of raw", "1.22", 1.22, 0, ratio(smallest, cpuTime), "%.2f"},
		target{"the smallest request: bytes allocated, share of raw", "1.31", 1.20, 0, ratio(smallest, memory), "%.2f"},
		target{"one rate: time, share of raw", "–", 1.10, 1.10, ratio("One/one rate/", cpuTime), "%.2f"},
		target{"one transaction: time, share of raw", "–", 1.10, 1.10, ratio("One/one transaction/", cpuTime), "%.2f"},
		target{"one regulatory request: time, share of raw", "–", 1.10, 1.10, ratio("One/one request/", cpuTime), "%.2f"},
		target{"20 pages at 20 ms each, fast consumer: ms", "69", 55, 55, milliseconds("Pages/fast consumer/shipping"), "%.0f"},
		target{"200 pages at 20 ms each: ms", "471", 300, 300, milliseconds("Pages/200 pages/shipping"), "%.0f"},
		target{"a loop that ends at the first record: requests", "–", 2, 2, reported("Pages/first rate only/shipping", "requests"), "%.0f"},
		target{"20 pages, consumer of 20 ms a page: share of the consumer's own time", "–", 1.10, 1.10, reported("Pages/slow consumer/shipping", "x-consumer"), "%.2f"},
		target{"walk over all transactions: largest heap of the second half, share of the first", "–", 1.10, 1.10, reported("Walk/all transactions/shipping", "heap-growth"), "%.2f"},
		target{"program that lists rates, stripped: MB over raw", "0.82", 0.72, 0.72, extraSize("shipping"), "%.2f"},
	)
}

// limitFor returns the limit for a variant, 0 without one.
func (t target) limitFor(v variant) float64 {
	if v.experiment == "jsonv2" {
		return t.jsonv2
	}
	return t.limit
}

func ratio(contest, unit string) func(*findings, variant) (spread, bool) {
	return share(contest+"shipping", contest+"raw", unit)
}

func share(name, base, unit string) func(*findings, variant) (spread, bool) {
	return func(f *findings, v variant) (spread, bool) { return f.runs[v.name].ratio(name, base, unit) }
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
