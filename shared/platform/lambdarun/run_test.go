package lambdarun_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

func TestLoggerAddsStackAndReleaseToEveryLine(t *testing.T) {
	for name, want := range map[string]any{"1764420000-0.1.0-1a2b3c4d5e6f": "1764420000-0.1.0-1a2b3c4d5e6f", "": nil} {
		t.Setenv("SERVICE", "hospital")
		t.Setenv("RELEASE", name)
		var log bytes.Buffer
		ctx, unit := logx.Begin(t.Context())
		logx.Measure(ctx, metric.Count(metric.Unlogged, ""))
		unit.Emit(ctx, lambdarun.NewLogger(&log), "unit.done")
		lines := bytes.Split(bytes.TrimSpace(log.Bytes()), []byte("\n"))
		if len(lines) != 2 {
			t.Fatalf("got %d lines, want the unit's line and a metric:\n%s", len(lines), &log)
		}
		for _, text := range lines {
			var line map[string]any
			if err := json.Unmarshal(text, &line); err != nil {
				t.Fatal(err)
			}
			if line["service"] != "hospital" || line["release"] != want {
				t.Errorf("%q: got %s", name, text)
			}
		}
	}
}
