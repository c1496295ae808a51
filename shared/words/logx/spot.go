package logx

import (
	"log/slog"

	"recordbridge/shared/words/fault"
)

// Failed returns the attribute that marks a failure affecting a patient, an organisation or a portal. Operators search
// for this attribute first (docs/operate/monitoring.md, "Log fields").
func Failed() slog.Attr { return slog.String("result", "failed") }

// Spot returns the attributes that locate a failure. For a zero Spot, the list of attributes is empty.
func Spot(s fault.Spot) []slog.Attr {
	var told []slog.Attr
	for _, one := range [...]struct{ name, value string }{
		{"step", string(s.Step)},
		{"host", s.Host},
		{"class", s.Class},
		{"table", s.Table},
		{"operation", s.Operation},
		{"row", s.Row},
		{"attribute", s.Attribute},
	} {
		if one.value != "" {
			told = append(told, slog.String(one.name, one.value))
		}
	}
	if s.Key != "" {
		told = append(told, slog.Any("key", keyName(s.Key)))
	}
	if s.Status != 0 {
		told = append(told, slog.Int("upstream_status", s.Status))
	}
	return told
}

// keyName is the name of a KMS key. Other values that are logged as "key" are redacted.
type keyName string

// IsSafeToLog marks the name as safe, because the template contains it.
func (keyName) IsSafeToLog() {}

func isKeyName(value slog.Value) bool {
	_, ok := value.Any().(keyName)
	return ok
}
