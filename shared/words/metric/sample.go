package metric

import (
	"log/slog"
	"time"
)

// mostValues is how many values of one metric CloudWatch takes in one line; a unit of work that
// measures more tells the first.
const mostValues = 100

// Sample is what one unit of work has counted or measured of a metric.
type Sample struct {
	name   Name
	by     string // the value of its dimension
	count  float64
	values []float64 // of what is measured
}

// Count is one more of what the metric counts. by is the value of its dimension, a word of ours; "" where it has none.
func Count(name Name, by string) Sample { return Sample{name: name, by: by, count: 1, values: nil} }

// Seconds is one measured span, never less than zero: clocks of two functions differ by moments.
func Seconds(name Name, by string, span time.Duration) Sample {
	return Sample{name: name, by: by, count: 0, values: []float64{max(span, 0).Seconds()}}
}

// Samples are those of one unit of work, each metric and value of its dimension once.
type Samples []Sample

// Add puts samples to those that are there.
func (s Samples) Add(more ...Sample) Samples {
	for _, one := range more {
		i := s.index(one)
		if i < 0 {
			s = append(s, one)
			continue
		}
		s[i].count += one.count
		if len(s[i].values) < mostValues {
			s[i].values = append(s[i].values, one.values...)
		}
	}
	return s
}

// Lines are the samples as log lines, without the time that Document.At adds: a line for each value of a dimension.
func (s Samples) Lines() [][]slog.Attr {
	var lines [][]slog.Attr
	told := make([]bool, len(s))
	for i, first := range s {
		if told[i] {
			continue
		}
		var (
			attrs    []slog.Attr
			document Document
		)
		if dimension := first.name.Dimension(); dimension != "" {
			attrs = append(attrs, slog.String(dimension, first.by))
		}
		for k, one := range s[i:] {
			if one.by == first.by && one.name.Dimension() == first.name.Dimension() {
				told[i+k] = true
				attrs = append(attrs, one.attr())
				document.directives = append(document.directives, one.directive())
			}
		}
		lines = append(lines, append(attrs, slog.Any("_aws", document))) //nolint:sloglint // the name is CloudWatch's
	}
	return lines
}

func (s Samples) index(same Sample) int {
	for i, one := range s {
		if one.name == same.name && one.by == same.by {
			return i
		}
	}
	return -1
}

// attr is the value of a sample: a number, or a list where there are several.
func (s Sample) attr() slog.Attr {
	switch {
	case !s.name.isMeasured():
		return slog.Float64(string(s.name), s.count)
	case len(s.values) == 1:
		return slog.Float64(string(s.name), s.values[0])
	}
	return slog.Any(string(s.name), values(s.values))
}
