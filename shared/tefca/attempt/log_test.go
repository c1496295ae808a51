package attempt_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/secret"
)

// TestAttemptStepsAreLoggedWithAttemptID checks that each step's log line has the attempt's ID and no personal data.
func TestAttemptStepsAreLoggedWithAttemptID(t *testing.T) {
	t.Parallel()
	w, token := newWorld(t), pageToken()
	w.locate = func(_ context.Context, found func(tefca.Facility) error) error {
		expect.NoError(t, found(facility("good", tefca.Found)))
		expect.NoError(t, found(facility(strings.Repeat("x", 257), tefca.Found)))
		expect.NoError(t, found(facility(strings.Repeat("y", 256), tefca.Found)))
		return found(facility("bad", tefca.Found))
	}
	w.read["bad"] = func() (records.Content, error) { return records.Content{}, tefca.ErrRefused }
	var made attempt.Prepared
	var back attempt.Return
	for _, step := range []struct {
		name  string
		act   func(ctx context.Context) error
		lines []string // expected parts of the log line, apart from the attempt and its owner
	}{
		{"create", func(ctx context.Context) (err error) {
			made,
				err = w.create(ctx, attemptID, wanted("x"))
			return err
		}, nil},
		{"leave", func(ctx context.Context) error {
			started, err := w.starter().Leave(ctx, made.Start)
			back = attempt.Return{
				Provider: "simulated", State: w.request.State, Code: secret.New("code"),
				Cookie: func(string) string { return started.CookieValue.Reveal() },
			}
			return err
		}, nil},
		{"return elsewhere", func(ctx context.Context) error {
			stolen := back
			stolen.Cookie = func(string) string { return "" }
			_, _ = w.completer().Complete(ctx, stolen)
			return nil
		}, []string{`"ended":"other_browser"`}},
		{"return", func(ctx context.Context) error { _, err := w.completer().Complete(ctx, back); return err }, nil},
		{
			"locate", func(ctx context.Context) error { return w.worker.Process(ctx, tenant, attemptID) },
			[]string{`"facilities":3`, `"its id is of no use"`},
		},
		{"choose", func(ctx context.Context) error {
			_, err := w.chooser().Choose(ctx, tenant, attemptID, token, []string{"good", "bad"})
			return err
		}, nil},
		{"connect", func(ctx context.Context) error { return w.worker.Process(ctx, tenant, attemptID) }, []string{
			`"outcome":"connected"`, `"documents":1`, `"outcome":"failed"`, `"reason":"refused"`, `"directory_id":"good"`,
			`"connection_id"`,
		}},
	} {
		var log bytes.Buffer
		ctx, event := logx.Begin(t.Context())
		expect.NoError(t, step.act(ctx))
		event.Emit(ctx, logx.New(&log), "step")
		for _, part := range append(step.lines, `"attempt_id":"`+attemptID+`"`, `"org_id":"`+tenant.OrgID+`"`,
			`"mode":"test"`) {
			if !strings.Contains(log.String(), part) {
				t.Errorf("%s does not tell %s: %s", step.name, part, log.String())
			}
		}
		for _, hidden := range []string{"Maple", "Aster", "id-token", "local of", "visit-9"} {
			if strings.Contains(log.String(), hidden) {
				t.Errorf("%s tells %s: %s", step.name, hidden, log.String())
			}
		}
	}
}
