// Package measured reads metrics from log lines as CloudWatch does, so that tests can check values instead of the log
// format. Only tests import this package.
package measured

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"recordbridge/shared/words/metric"
)

// line is a log line that contains metrics.
type line struct {
	AWS *struct {
		Timestamp         int64
		CloudWatchMetrics []struct {
			Namespace  string
			Dimensions [][]string
			Metrics    []struct{ Name, Unit string }
		}
	} `json:"_aws"`
}

// In returns the total of each counter in a log, and the number of measurements of each other metric. Each key consists
// of the metric and the dimension value, such as "Exports success" or "WebhookSeconds". In fails the test if it finds
// lines that CloudWatch would ignore.
func In(tb testing.TB, log []byte) map[string]int {
	tb.Helper()
	found := map[string]int{}
	for text := range bytes.Lines(log) {
		var one line
		var members map[string]any
		if json.Unmarshal(text, &one) != nil || one.AWS == nil || json.Unmarshal(text, &members) != nil {
			continue // a line without metrics, or output from another program
		}
		if one.AWS.Timestamp <= 0 {
			tb.Errorf("a metric without a time: %s", text)
		}
		for _, told := range one.AWS.CloudWatchMetrics {
			for _, m := range told.Metrics {
				if told.Namespace != metric.Namespace || !slices.Contains(metric.Names(), metric.Name(m.Name)) {
					tb.Errorf("an unknown metric %s of %s", m.Name, told.Namespace)
				}
				found[m.Name+by(tb, members, told.Dimensions)] += number(tb, m.Name, m.Unit, members[m.Name])
			}
		}
	}
	return found
}

// by returns a space followed by the value of the dimension other than the stack, or "" if there is none.
func by(tb testing.TB, members map[string]any, sets [][]string) string {
	tb.Helper()
	told := ""
	for _, set := range sets {
		if !slices.Contains(set, metric.Stack) {
			tb.Errorf("the dimensions %v are not of one stack", set)
		}
		for _, name := range set {
			if name == metric.Stack {
				continue
			}
			value, ok := members[name].(string)
			if !ok || value == "" {
				tb.Errorf("the dimension %s has no value", name)
			}
			told = " " + value
		}
	}
	return told
}

// number returns a counter's value, or the number of measurements of any other metric.
func number(tb testing.TB, name, unit string, value any) int {
	tb.Helper()
	switch value := value.(type) {
	case float64:
		if unit == "Count" {
			return int(value)
		}
		return 1
	case []any:
		return len(value)
	}
	tb.Errorf("%s is %s", name, fmt.Sprint(value))
	return 0
}
