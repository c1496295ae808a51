package worker_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/webhook"
)

func TestProgressEventIsSentAtMostEvery30Seconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.latency = 15 * time.Second
		b.work(t, 0)
		var last time.Time
		var before webhook.ExportProgress
		told := b.store.Events(webhook.ExportProgressed)
		if len(told) < 2 {
			t.Fatalf("%d events", len(told))
		}
		for i, event := range told {
			var body struct {
				Type webhook.Type
				Data webhook.ExportProgress
			}
			if err := json.Unmarshal(event.Body, &body); err != nil {
				t.Fatal(err)
			}
			got := body.Data
			if body.Type != webhook.ExportProgressed || got.Sequence != int64(i+1) || got.TaskID != taskID ||
				got.OrgConnectionID != connectionID || got.OrgID != tenant.OrgID {
				t.Errorf("event %d: %+v", i, body)
			}
			if event.CreatedAt.Sub(last) < 30*time.Second {
				t.Errorf("event %d came %v after the one before", i, event.CreatedAt.Sub(last))
			}
			if got.QueriesDone > got.QueriesPlanned || got.QueriesDone < before.QueriesDone ||
				got.Resources < before.Resources || got.Bytes < before.Bytes || got.Progress == before.Progress {
				t.Errorf("event %d: %+v after %+v", i, got, before)
			}
			last, before = event.CreatedAt, got
		}
		end := b.task().Progress
		if end.QueriesDone != end.QueriesPlanned || end.Resources != len(wholeRecord()) ||
			end.Bytes != int64(len(b.file(t))) {
			t.Errorf("at the end: %+v", end)
		}
	})
}

func TestProgressEventIsNotSentWithoutProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.latency = 15 * time.Second
		b.server.script(findConditions, answer{status: 429, retryAfter: 29}, answer{status: 429, retryAfter: 29},
			answer{status: 429, retryAfter: 29})
		b.work(t, 0)
		var before string
		for _, event := range b.store.Events(webhook.ExportProgressed) {
			var body struct{ Data webhook.ExportProgress }
			if err := json.Unmarshal(event.Body, &body); err != nil {
				t.Fatal(err)
			}
			body.Data.Sequence = 0
			now, err := json.Marshal(body.Data)
			if err != nil || string(now) == before {
				t.Errorf("told twice: %s", now)
			}
			before = string(now)
		}
	})
}
