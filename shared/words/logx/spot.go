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
		{"dependency", s.Dependency},
		{"table", s.Table},
		{"unsent_to", s.Queue},
		{"bucket", s.Bucket},
		{"operation", s.Operation},
		{"row", s.Row},
		{"attribute", s.Attribute},
	} {
		if one.value != "" {
			told = append(told, slog.String(one.name, one.value))
		}
	}
	if s.Key != "" {
		told = append(told, slog.Any("key", s.Key))
	}
	if s.Status != 0 {
		told = append(told, slog.Int("upstream_status", s.Status))
	}
	return told
}
