package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// write prints a line for each span, below the one that it is part of, and a line for each duration.
func write(out io.Writer, spans tracetest.SpanStubs, metrics metricdata.ResourceMetrics) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "SPAN\tTOOK\tRESULT")
	tree(table, spans, trace.SpanID{}, "")
	fmt.Fprintln(table, "\nMETRIC\tOF\tMEAN\tCOUNT")
	var lines []string
	for _, scope := range metrics.ScopeMetrics {
		for _, m := range scope.Metrics {
			histogram, ok := m.Data.(metricdata.Histogram[float64])
			if !ok || m.Unit != "s" {
				continue // not a duration
			}
			for _, point := range histogram.DataPoints {
				mean := time.Duration(point.Sum / float64(point.Count) * float64(time.Second))
				of := values(point.Attributes.ToSlice(), "shipping.operation", "http.response.status_code")
				lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%d", m.Name, of, mean.Round(10*time.Microsecond), point.Count))
			}
		}
	}
	slices.Sort(lines)
	fmt.Fprintln(table, strings.Join(lines, "\n"))
	return table.Flush()
}

// tree prints the spans that are part of a parent. They are in the order in which they ended.
func tree(out io.Writer, spans tracetest.SpanStubs, parent trace.SpanID, indent string) {
	for _, span := range spans {
		if span.Parent.SpanID() != parent {
			continue
		}
		result := cmp.Or(values(span.Attributes, "http.response.status_code"), values(span.Attributes, "error.type"), "ok")
		if attempts := values(span.Attributes, "shipping.attempts"); attempts > "1" {
			result += ", " + attempts + " attempts"
		}
		took := span.EndTime.Sub(span.StartTime).Round(10 * time.Microsecond)
		fmt.Fprintf(out, "%s%s\t%s\t%s\n", indent, span.Name, took, result)
		tree(out, spans, span.SpanContext.SpanID(), indent+"  ")
	}
}

// values joins the values of the named attributes, if set.
func values(attributes []attribute.KeyValue, names ...attribute.Key) string {
	var found []string
	for _, name := range names {
		for _, a := range attributes {
			if a.Key == name {
				found = append(found, a.Value.String())
			}
		}
	}
	return strings.Join(found, " ")
}
