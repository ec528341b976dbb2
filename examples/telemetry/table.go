package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// recorded is an exporter that keeps spans for a table. They arrive in the order in which they end.
type recorded struct {
	children map[oteltrace.SpanID][]trace.ReadOnlySpan
}

// ExportSpans implements trace.SpanExporter.
func (r *recorded) ExportSpans(_ context.Context, spans []trace.ReadOnlySpan) error {
	for _, span := range spans {
		parent := span.Parent().SpanID()
		r.children[parent] = append(r.children[parent], span)
	}
	return nil
}

// Shutdown implements trace.SpanExporter.
func (r *recorded) Shutdown(context.Context) error { return nil }

// write prints a line for each span, below the one that it is part of, and a line for each metric.
func (r *recorded) write(out io.Writer, metrics metricdata.ResourceMetrics) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "SPAN\tTOOK\tRESULT\tROUTE")
	r.tree(table, oteltrace.SpanID{}, "")
	fmt.Fprintln(table, "\nMETRIC\tOF\tMEAN\tCOUNT")
	var lines []string
	for _, scope := range metrics.ScopeMetrics {
		for _, m := range scope.Metrics {
			histogram, ok := m.Data.(metricdata.Histogram[float64])
			if !ok || m.Unit != "s" {
				continue // sizes, which -json shows
			}
			for _, point := range histogram.DataPoints {
				mean := time.Duration(point.Sum / float64(point.Count) * float64(time.Second))
				of := values(point.Attributes.ToSlice(), "shipping.operation", "http.request.method", "http.response.status_code")
				lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%d", m.Name, of, short(mean), point.Count))
			}
		}
	}
	slices.Sort(lines)
	fmt.Fprintln(table, strings.Join(lines, "\n"))
	fmt.Fprintln(table, "\n-json prints all that a collector receives.")
	return table.Flush()
}

func (r *recorded) tree(out io.Writer, parent oteltrace.SpanID, indent string) {
	for _, span := range r.children[parent] {
		attributes := span.Attributes()
		result := cmp.Or(values(attributes, "http.response.status_code"), values(attributes, "error.type"))
		if attempts := values(attributes, "shipping.attempts"); attempts != "" && attempts != "1" {
			result = strings.TrimSpace(result + " " + attempts + " attempts")
		}
		if result == "" && span.Status().Code != codes.Error {
			result = "ok"
		}
		fmt.Fprintf(out, "%s%s\t%s\t%s\t%s\n", indent, span.Name(), short(span.EndTime().Sub(span.StartTime())), result, values(attributes, "http.route"))
		r.tree(out, span.SpanContext().SpanID(), indent+"  ")
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

// short leaves three digits of a duration or so.
func short(d time.Duration) time.Duration {
	if d > time.Second {
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}
