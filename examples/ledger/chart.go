package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
)

// chart is the running total as lines of an SVG: it steps from day to day.
type chart struct {
	Line, Area string // path data
	Dots       []dot  // under the pointer
	Levels     []tick // of the total
	Dates      []tick // of the days
}

// tick is a label on an axis.
type tick struct {
	At     float64
	Text   string
	Anchor string // which end of the text stands there
}

// dot is a stretch of days with one total.
type dot struct {
	X, Width float64
	Text     string
}

// The drawing area, in SVG units; report.html has the same.
const (
	left, right = 64, 720
	top, bottom = 12, 232
	mostPoints  = 328 // a step every two units
)

// draw makes the chart. Of a long history it draws the last point of each of so many equal spans.
func draw(points []point) chart {
	var c chart
	if len(points) == 0 {
		return c
	}
	first, last := points[0].Day, points[len(points)-1].Day
	span := max(last.Sub(first), 24*time.Hour)
	x := func(day time.Time) float64 { return left + (right-left)*float64(day.Sub(first))/float64(span) }
	points = thin(points, func(p point) int { return int((x(p.Day) - left) * mostPoints / (right - left)) })

	low, high := 0.0, 0.0
	for _, p := range points {
		low, high = min(low, pixels(p.Total)), max(high, pixels(p.Total))
	}
	step := stepFor(high - low)
	low, high = math.Floor(low/step)*step, math.Ceil(high/step)*step
	if low == high {
		high += step
	}
	y := func(value float64) float64 { return bottom - (bottom-top)*(value-low)/(high-low) }
	for i := range int(math.Round((high-low)/step)) + 1 {
		level := low + float64(i)*step
		c.Levels = append(c.Levels, tick{y(level), compact(level), "end"})
	}
	for i, anchor := range []string{"start", "middle", "middle", "middle", "end"} {
		day := first.Add(span / 4 * time.Duration(i))
		c.Dates = append(c.Dates, tick{x(day), day.Format("2 Jan 06"), anchor})
	}

	var line strings.Builder
	fmt.Fprintf(&line, "M%d,%.1f", left, y(pixels(points[0].Total)))
	for i, p := range points {
		fmt.Fprintf(&line, "H%.1fV%.1f", x(p.Day), y(pixels(p.Total)))
		until := float64(right)
		if i+1 < len(points) {
			until = x(points[i+1].Day)
		}
		c.Dots = append(c.Dots, dot{x(p.Day), until - x(p.Day), p.Day.Format("2 January 2006") + ": " + money(p.Total)})
	}
	c.Line = line.String() + fmt.Sprintf("H%d", right)
	c.Area = c.Line + fmt.Sprintf("V%.1fH%dZ", y(0), left)
	return c
}

// thin keeps the last point of each span.
func thin(points []point, span func(point) int) []point {
	var kept []point
	for i, p := range points {
		if i+1 == len(points) || span(points[i+1]) != span(p) {
			kept = append(kept, p)
		}
	}
	return kept
}

// stepFor is a round number that divides a range into three to eight parts.
func stepFor(length float64) float64 {
	if length <= 0 {
		return 1
	}
	step := math.Pow(10, math.Floor(math.Log10(length)))
	for _, part := range []float64{1, 2, 5, 10} {
		if n := length / (step / part); n >= 3 {
			return step / part
		}
	}
	return step
}

// compact writes a level on the axis: 40M, 250k, 1.5.
func compact(value float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(value) >= unit.size {
			return strconv.FormatFloat(value/unit.size, 'g', 4, 64) + unit.name
		}
	}
	return strconv.FormatFloat(value, 'g', 4, 64)
}

// pixels converts an amount to a coordinate, the only use of a float here.
func pixels(amount shipping.Amount) float64 {
	value, err := strconv.ParseFloat(amount.String(), 64)
	if err != nil {
		return 0
	}
	return value
}
