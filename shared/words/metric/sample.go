package metric

import (
	"log/slog"
	"time"
)

// maxValues is the maximum number of values per metric that CloudWatch accepts on one line. Values beyond the limit are
// discarded.
const maxValues = 100

// Sample holds the count or the measurements of one metric within a unit of work.
type Sample struct {
	name   Name
	by     string
	count  float64
	values []float64 // measured values
}

// Count returns a sample that counts one event. by is the value of the metric's dimension, which must be a fixed word,
// or "" if the metric has no dimension.
func Count(name Name, by string) Sample { return Sample{name: name, by: by, count: 1, values: nil} }

// Seconds returns a sample with one measured duration. A negative duration counts as zero, because the clocks of two
// functions can differ slightly.
func Seconds(name Name, by string, span time.Duration) Sample {
	return Sample{name: name, by: by, count: 0, values: []float64{max(span, 0).Seconds()}}
}

// Samples holds the metric samples of a unit of work, one per metric and dimension value.
type Samples []Sample

// Add returns s merged with more samples.
func (s Samples) Add(more ...Sample) Samples {
	for _, one := range more {
		i := s.index(one)
		if i < 0 {
			s = append(s, one)
			continue
		}
		s[i].count += one.count
		if len(s[i].values) < maxValues {
			s[i].values = append(s[i].values, one.values...)
		}
	}
	return s
}

// Lines returns the samples as log lines, one per dimension value. Document.At adds the time to each line.
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

// attr returns a sample's value, which is a single number or a list of several numbers.
func (s Sample) attr() slog.Attr {
	switch {
	case !s.name.isMeasured():
		return slog.Float64(string(s.name), s.count)
	case len(s.values) == 1:
		return slog.Float64(string(s.name), s.values[0])
	}
	return slog.Any(string(s.name), values(s.values))
}
