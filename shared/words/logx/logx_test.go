package logx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/secret"
)

func lineOf(t *testing.T, log *bytes.Buffer) map[string]any {
	t.Helper()
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("the log is not one JSON line: %v\n%s", err, log)
	}
	delete(line, "time")
	return line
}

func TestNewRedactsSecrets(t *testing.T) {
	t.Parallel()
	failed := &url.Error{
		Op: "Get", URL: "https://ehr.example.org/token?code=SENTINEL&x=1#SENTINEL",
		Err: errors.New("refused"),
	}
	type patient struct{ Name string }
	attrs := map[string]slog.Attr{
		"secret text":          slog.Any("value", secret.New("SENTINEL")),
		"access token":         slog.String("access_token", "SENTINEL"),
		"token hash":           slog.String("token_hash", "SENTINEL"),
		"code":                 slog.String("code", "SENTINEL"),
		"state":                slog.String("state", "SENTINEL"),
		"e-mail":               slog.String("patient_email", "SENTINEL"),
		"body":                 slog.String("body", "SENTINEL"),
		"private key":          slog.String("private_key", "SENTINEL"),
		"key":                  slog.String("key", "SENTINEL"),
		"name":                 slog.String("family_name", "SENTINEL"),
		"cookie":               slog.String("set_cookie", "SENTINEL"),
		"number":               slog.Int("code", 5_3_7_4),
		"group":                slog.Group("token", slog.String("kind", "SENTINEL")),
		"inside a group":       slog.Group("request", slog.String("query", "SENTINEL")),
		"query in a text":      slog.String("cause", "GET /x?token=SENTINEL failed"),
		"query in an error":    slog.Any("cause", failed),
		"bearer in a text":     slog.String("cause", "sent Bearer SENTINEL.abc"),
		"basic in a text":      slog.String("cause", "sent basic SENTINEL=="),
		"private key in text":  slog.String("cause", "no such key private_live_SENTINEL"),
		"webhook secret":       slog.String("cause", "whsec_SENTINEL/+="),
		"web token in a text":  slog.String("cause", "got eyJSENTINELSENTINEL.SENTINEL.SENTINEL"),
		"e-mail in a text":     slog.String("cause", "no user SENTINEL@example.org here"),
		"struct":               slog.Any("record", patient{Name: "SENTINEL"}),
		"pointer to struct":    slog.Any("record", &patient{Name: "SENTINEL"}),
		"raw JSON":             slog.Any("record", json.RawMessage(`{"resourceType":"SENTINEL"}`)),
		"list":                 slog.Any("record", []string{"SENTINEL"}),
		"bytes":                slog.Any("record", []byte("SENTINEL")),
		"fault with a URL":     slog.Any("cause", fault.BadRequest("No.").Because(failed)),
		"group with an error":  slog.Group("outer", slog.Any("cause", failed)),
		"value of a LogValuer": slog.Any("code", secret.New("SENTINEL")),
	}
	for _, key := range []string{"Authorization", "Set-Cookie", "client-secret", "X-Api-Key", "E-Mail"} {
		attrs[key] = slog.String(key, "SENTINEL")
	}
	for name, attr := range attrs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			logx.New(&log).LogAttrs(t.Context(), slog.LevelInfo, "test", attr)
			got := fmt.Sprint(lineOf(t, &log)) // lineOf removes the time, because its digits vary
			if strings.Contains(got, "SENTINEL") || strings.Contains(got, "5374") {
				t.Errorf("log line: %s", got)
			}
		})
	}
}

func TestNewDoesNotRedactHarmlessValues(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logx.New(&log).LogAttrs(t.Context(), slog.LevelWarn, "export.collected",
		slog.String("task_id", "0123"), slog.Int("status", 200), slog.Bool("late", true), slog.String("route", "/x/{id}"),
		slog.Any("cause", errors.New("dial tcp: refused")), slog.String("error", "svc_not_found"), slog.Any("nothing", nil),
		slog.String("stack", "github.com/aws/aws-lambda-go@v1.55.1/lambda/entry.go:9"))
	want := map[string]any{
		"level": "WARN", "msg": "export.collected", "task_id": "0123", "status": 200.0, "late": true, "route": "/x/{id}",
		"cause": "dial tcp: refused", "error": "svc_not_found", "nothing": nil,
		"stack": "github.com/aws/aws-lambda-go@v1.55.1/lambda/entry.go:9",
	}
	if diff := cmp.Diff(want, lineOf(t, &log)); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestEmitWritesOneLine(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx, event := logx.Begin(logx.WithRequestID(t.Context(), "req-1"))
	logx.Add(ctx, slog.String("outcome", "first"), slog.Int("tries", 1))
	logx.Add(ctx, slog.String("outcome", "second"))
	event.Emit(ctx, logx.New(&log), "unit.done")
	want := map[string]any{"level": "INFO", "msg": "unit.done", "outcome": "second", "tries": 1.0, "request_id": "req-1"}
	if diff := cmp.Diff(want, lineOf(t, &log)); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestFailOmitsCauseOfClientErrors(t *testing.T) {
	t.Parallel()
	cause := errors.New("CAUSE")
	cases := map[string]struct {
		err   error
		level string
		code  string
		shown bool
	}{
		"plain error": {cause, "ERROR", "svc_server_error", true},
		"unavailable": {
			fault.New(fault.Unavailable, fault.CodeUnavailable, "x").Because(cause), "ERROR",
			"svc_unavailable", true,
		},
		"upstream": {fault.New(fault.Upstream, "invalid_grant", "x").Because(cause), "INFO", "invalid_grant", false},
		"invalid":  {fault.BadRequest("x").Because(cause), "INFO", "svc_invalid_request", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			ctx, event := logx.Begin(t.Context())
			logx.Fail(ctx, c.err)
			event.Emit(ctx, logx.New(&log), "unit.done")
			line := lineOf(t, &log)
			_, shown := line["cause"]
			if line["level"] != c.level || line["error"] != c.code || shown != c.shown {
				t.Errorf("line %v", line)
			}
		})
	}
}

func TestFailLogsFieldAndSpot(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx, event := logx.Begin(t.Context())
	spot := fault.Spot{
		Step: fault.StepSearch, Host: "ehr.example", Status: 404, Class: "not_found",
		Operation: "GetItem", Row: "TASK", Attribute: "options", Dependency: "DynamoDB",
		Table: "Work", Key: "TokensKey", Queue: "ExportQueue", Bucket: "exports",
	}
	logx.Fail(ctx, fault.BadRequest("x").About("formats").Because(spot.Failed(errors.New("CAUSE"))))
	event.Emit(ctx, logx.New(&log), "unit.done")
	want := map[string]any{
		"level": "INFO", "msg": "unit.done", "result": "failed", "error": "svc_invalid_request", "error_kind": "invalid",
		"field": "formats",
		"step":  "search", "host": "ehr.example", "upstream_status": 404.0, "class": "not_found",
		"operation": "GetItem", "row": "TASK", "attribute": "options", "dependency": "DynamoDB",
		"table": "Work", "key": "TokensKey", "unsent_to": "ExportQueue", "bucket": "exports",
	}
	if diff := cmp.Diff(want, lineOf(t, &log)); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestNoteWritesSeparateLine(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx, event := logx.Begin(logx.WithRequestID(t.Context(), "req-1"))
	logx.Add(ctx, slog.String("org_id", "o1"), slog.String("mode", "test"), slog.String("outcome", "retry"))
	logx.Note(ctx, "part.done", slog.String("event_id", "e1"), slog.String("mode", "live"))
	event.Emit(ctx, logx.New(&log), "unit.done")
	_, second, _ := bytes.Cut(log.Bytes(), []byte("\n"))
	want := map[string]any{
		"level": "INFO", "msg": "part.done", "event_id": "e1", "request_id": "req-1", "org_id": "o1",
		"mode": "live",
	}
	if diff := cmp.Diff(want, lineOf(t, bytes.NewBuffer(second))); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestAddIsNoOpOutsideUnitOfWork(t *testing.T) {
	t.Parallel()
	logx.Add(t.Context(), slog.String("outcome", "lost"))
	logx.Fail(t.Context(), errors.New("lost"))
	logx.Note(t.Context(), "part.lost")
	if got := logx.RequestID(t.Context()); got != "" {
		t.Errorf("got request id %q", got)
	}
}

func TestAddIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx, event := logx.Begin(t.Context())
	var running sync.WaitGroup
	for i := range 20 {
		running.Go(func() { logx.Add(ctx, slog.Int("n"+string(rune('a'+i)), i)) })
	}
	running.Wait()
	event.Emit(ctx, logx.New(&log), "unit.done")
	if got := len(lineOf(t, &log)); got != 22 {
		t.Errorf("got %d fields, want 22", got)
	}
}
