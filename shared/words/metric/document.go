package metric

import (
	"encoding/json"
	"fmt"
	"time"
)

// Document is the CloudWatch metadata that declares which fields of a log line are metrics. It does not contain the
// metrics' values.
type Document struct {
	at         time.Time
	directives []directive
}

// At returns the metadata document for a log line written at time at.
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

// IsSafeToLog marks the document as safe, because it contains only constants from this package.
func (Document) IsSafeToLog() {}

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

type values []float64

// IsSafeToLog marks the values as safe, because they are numbers.
func (values) IsSafeToLog() {}
