package metric

import (
	"encoding/json"
	"fmt"
	"time"
)

// Document is what tells CloudWatch which members of a log line are metrics. It holds no value of any of them.
type Document struct {
	at         time.Time
	directives []directive
}

// At is the document of a line that is written at a time.
func (d Document) At(at time.Time) Document { return Document{at: at, directives: d.directives} }

// MarshalJSON implements json.Marshaler.
func (d Document) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(struct {
		Timestamp         int64
		CloudWatchMetrics []directive
	}{d.at.UnixMilli(), d.directives})
	if err != nil {
		return nil, fmt.Errorf("encode metric: %w", err)
	}
	return text, nil
}

// IsSafeToLog says that all of it are constants of this package.
func (Document) IsSafeToLog() {}

// directive is one metric with the sets of dimensions that it is kept by.
type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []definition
}

type definition struct{ Name, Unit string }

func (s Sample) directive() directive {
	sets := [][]string{}
	dimension := s.name.Dimension()
	if dimension == "" || s.name.hasTotal() {
		sets = append(sets, []string{Stack})
	}
	if dimension != "" {
		sets = append(sets, []string{Stack, dimension})
	}
	unit := "Count"
	if s.name.isMeasured() {
		unit = "Seconds"
	}
	return directive{Namespace: Namespace, Dimensions: sets, Metrics: []definition{{Name: string(s.name), Unit: unit}}}
}

// values are several measured ones.
type values []float64

// IsSafeToLog says that they are numbers.
func (values) IsSafeToLog() {}
