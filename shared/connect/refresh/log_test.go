package refresh_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/measured"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

// refusing is a token endpoint's refusal in the form that package smart returns.
type refusing struct{}

func (refusing) Error() string {
	return "token endpoint: invalid_client (status 401), with Bearer SENTINEL"
}

func (refusing) LogValue() slog.Value {
	return slog.GroupValue(slog.String("class", "registration"), slog.Int("status", 401))
}

func TestWorkerLogsFailureDetails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err      error
		failures int
		want     map[string]any
	}{
		"an answer, the first time": {fmt.Errorf("refresh tokens: %w", refusing{}), 0, map[string]any{
			"result": "failed", "refresh": "failed",
			"cause": "refresh tokens: token endpoint: invalid_client (status 401), with Bearer [redacted]", "setbacks": 1.0,
			"answer": map[string]any{"class": "registration", "status": 401.0},
		}},
		"an answer of a server that is busy": {
			fault.New(fault.Upstream, fault.CodeUnavailable, "Later.").Because(refusing{}),
			11,
			map[string]any{
				"result": "failed", "refresh": "failed",
				"cause": "svc_unavailable: token endpoint: invalid_client (status 401), with Bearer [redacted]", "setbacks": 12.0,
				"answer": map[string]any{"class": "registration", "status": 401.0},
			},
		},
		"no answer": {errors.New("token request: dial tcp: refused"), 0, map[string]any{
			"result": "failed", "refresh": "failed", "cause": "token request: dial tcp: refused", "setbacks": 1.0,
		}},
		"an AWS service failed": {errOutage, 0, map[string]any{
			"result": "put_off", "refresh": "put_off", "cause": "open tokens: KMS: status 500", "dependency": "KMS",
			"class": "KMSInternalException", "key": "TokensKey", "operation": "Decrypt",
		}},
		"a refresh": {nil, 0, map[string]any{"refresh": "renewed"}},
		"an end": {
			&tokens.UnrenewableError{Version: 7}, 0,
			map[string]any{"result": "failed", "refresh": "revoked", "ended": "access_expired"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench()
			b.err = test.err
			b.change(func(c *connection.Connection) { c.Refresh.Failures = test.failures })
			ctx, line := logx.Begin(t.Context())
			expect.NoError(t, b.worker().Process(ctx, tenant, connID))
			var log bytes.Buffer
			line.Emit(ctx, logx.New(&log), "test")
			first, rest, _ := bytes.Cut(log.Bytes(), []byte("\n"))
			var got map[string]any
			expect.NoError(t, json.Unmarshal(first, &got))
			want := map[string]any{
				"level": "INFO", "msg": "test", "time": got["time"],
				"connection_id": connID, "org_id": tenant.OrgID, "mode": "test", "endpoint_id": "endpoint",
			}
			maps.Copy(want, test.want)
			if test.want["refresh"] == "failed" || test.want["refresh"] == "put_off" {
				want["next_at"] = b.now().Refresh.RefreshAt.Format(time.RFC3339Nano)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}
			counted := map[string]int{fmt.Sprintf("Refreshes %v", test.want["refresh"]): 1}
			if ended, ok := test.want["ended"]; ok {
				counted[fmt.Sprintf("Revocations %v", ended)] = 1
			}
			if diff := cmp.Diff(counted, measured.In(t, rest)); diff != "" {
				t.Errorf("metrics (-want +got):\n%s", diff)
			}
		})
	}
}
