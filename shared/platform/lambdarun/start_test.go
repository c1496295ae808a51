package lambdarun_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"recordbridge/infra/testkit/measured"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

func TestStartLogsFailedCallsWhenProcessStarts(t *testing.T) {
	t.Parallel()
	at := fault.Spot{Dependency: "SSM", Operation: "GetParameter", Class: "InternalServerError"}
	for name, test := range map[string]struct {
		err  error
		want []string
	}{
		"start fails": {
			at.Failed(errors.New("status 500")),
			[]string{
				`"msg":"start.failed"`, `"level":"ERROR"`, `"result":"failed"`, `"dependency":"SSM"`,
				`"class":"InternalServerError"`, `"operation":"GetParameter"`, `"cause":"status 500"`,
			},
		},
		"start succeeds after a retry": {nil, []string{`"msg":"start.retried"`}},
	} {
		var log bytes.Buffer
		got, err := lambdarun.Start(t.Context(), logx.New(&log), func(ctx context.Context) (string, error) {
			logx.Measure(ctx, metric.Count(metric.Unanswered, "SSM"))
			return "handler", test.err
		})
		if got != "handler" || !errors.Is(err, test.err) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		if measured.In(t, log.Bytes())["Unanswered SSM"] != 1 {
			t.Errorf("%s: no metric in %s", name, &log)
		}
		for _, text := range test.want {
			if !strings.Contains(log.String(), text) {
				t.Errorf("%s: no %s in %s", name, text, &log)
			}
		}
	}
}

func TestStartLogsNothingWhenNoCallFails(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	_, err := lambdarun.Start(t.Context(), logx.New(&log), func(context.Context) (int, error) { return 1, nil })
	if err != nil || log.Len() > 0 {
		t.Errorf("%v, %s", err, &log)
	}
}
