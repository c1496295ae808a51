package refreshworker_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"recordbridge/functions/refreshworker"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

const (
	orgID  = "a0000000-0000-4000-8000-000000000001"
	connID = "c0000000-0000-4000-8000-000000000001"
	taskID = "7a000000000040008000000000000001"
)

var errTrouble = errors.New("trouble on our side")

type connections struct {
	failing string // ID of the connection that fails

	mu    sync.Mutex
	looks []string
}

func (c *connections) Process(_ context.Context, tenant org.Tenant, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks = append(c.looks, tenant.Key()+" "+id)
	if id == c.failing {
		return errTrouble
	}
	return nil
}

// receive delivers messages in one batch, as Lambda does, and returns the indexes of the messages to retry.
func receive(t *testing.T, c refreshworker.Connections, bodies ...string) []string {
	t.Helper()
	var batch events.SQSEvent
	for i, body := range bodies {
		batch.Records = append(batch.Records, events.SQSMessage{MessageId: strconv.Itoa(i), Body: body})
	}
	process := lambdarun.Process{Logger: logx.New(io.Discard), Now: time.Now}
	worker := lambdarun.Worker[due.Item]{
		Name: "refreshworker", Concurrency: 10, Decode: due.Decode,
		Handle: refreshworker.New(c),
	}
	answer, err := lambdarun.SQS(process, worker)(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	back := make([]string, 0, len(answer.BatchItemFailures))
	for _, failure := range answer.BatchItemFailures {
		back = append(back, failure.ItemIdentifier)
	}
	return back
}

func message(mode, orgID string, kind due.Kind, id string) string {
	return `{"mode":"` + mode + `","org":"` + orgID + `","kind":"` + string(kind) + `","id":"` + id + `"}`
}

func TestWorkerProcessesConnectionNamedInMessage(t *testing.T) {
	t.Parallel()
	var c connections
	const other = "c0000000-0000-4000-8000-000000000002"
	back := receive(t, &c, message("live", orgID, due.Connection, connID), message("test", orgID, due.Connection, other))
	if len(back) != 0 {
		t.Errorf("messages %q came back", back)
	}
	slices.Sort(c.looks)
	if diff := cmp.Diff([]string{"live#" + orgID + " " + connID, "test#" + orgID + " " + other}, c.looks); diff != "" {
		t.Errorf("looked at (-want +got):\n%s", diff)
	}
}

// TestWorkerProcessesDuplicateMessage checks that a duplicate is processed in the same way as the original. Only the
// connection's state determines whether work remains.
func TestWorkerProcessesDuplicateMessage(t *testing.T) {
	t.Parallel()
	var c connections
	body := message("live", orgID, due.Connection, connID)
	if back := receive(t, &c, body, body); len(back) != 0 || len(c.looks) != 2 {
		t.Errorf("looked at %q, messages %q came back", c.looks, back)
	}
}

func TestWorkerDropsMessageOfUnexpectedKind(t *testing.T) {
	t.Parallel()
	var c connections
	back := receive(t, &c,
		message("live", orgID, due.Task, taskID), message("live", orgID, due.Event, connID),
		message("live", orgID, due.Delivery, connID))
	if len(back) != 0 || len(c.looks) != 0 {
		t.Errorf("looked at %q, messages %q came back", c.looks, back)
	}
}

func TestWorkerDropsForgedMessages(t *testing.T) {
	t.Parallel()
	var c connections
	back := receive(t, &c,
		"", "{}", "null", `{"access_token":"x"}`,
		message("prod", orgID, due.Connection, connID), message("live", "*", due.Connection, connID),
		message("live", orgID+"#CONN#"+connID, due.Connection, connID),
		message("live", orgID, due.Connection, connID+"#META"),
		message("live", orgID, "upstream", connID), message("live", orgID, due.Connection, connID))
	if len(back) != 0 {
		t.Errorf("messages %q came back: they will never be readable", back)
	}
	if diff := cmp.Diff([]string{"live#" + orgID + " " + connID}, c.looks); diff != "" {
		t.Errorf("looked at (-want +got):\n%s", diff)
	}
}

func TestWorkerRetriesFailedMessageOfBatch(t *testing.T) {
	t.Parallel()
	const bad = "c0000000-0000-4000-8000-00000000000b"
	c := connections{failing: bad}
	back := receive(t, &c,
		message("live", orgID, due.Connection, connID), message("live", orgID, due.Connection, bad),
		message("test", orgID, due.Connection, connID))
	if diff := cmp.Diff([]string{"1"}, back); diff != "" {
		t.Errorf("came back (-want +got):\n%s", diff)
	}
	if len(c.looks) != 3 {
		t.Errorf("looked at %q", c.looks)
	}
}

// slow is a Connections implementation that takes a long time for each connection.
type slow struct{}

func (slow) Process(context.Context, org.Tenant, string) error {
	<-time.After(time.Minute)
	return nil
}

func TestWorkerProcessesConnectionsConcurrently(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		bodies := make([]string, 10)
		for i := range bodies {
			bodies[i] = message("live", orgID, due.Connection, connID[:len(connID)-1]+strconv.Itoa(i))
		}
		if back := receive(t, slow{}, bodies...); len(back) != 0 || time.Since(started) != time.Minute {
			t.Errorf("%q came back after %v, want none after a minute", back, time.Since(started))
		}
	})
}

// patient is a Connections implementation that takes one second per call and counts concurrent calls.
type patient struct {
	mu        sync.Mutex
	now, most map[string]int
}

func (s *patient) Process(_ context.Context, _ org.Tenant, id string) error {
	s.count(id, 1)
	<-time.After(time.Second) // virtual time (testing/synctest)
	s.count(id, -1)
	return nil
}

func (s *patient) count(id string, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now[id] += by
	s.now["all"] += by
	s.most[id], s.most["all"] = max(s.most[id], s.now[id]), max(s.most["all"], s.now["all"])
}

func TestWorkerSerialisesMessagesAboutSameConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &patient{now: map[string]int{}, most: map[string]int{}}
		handle := refreshworker.New(s)
		tenant := org.Tenant{Mode: org.Test, OrgID: orgID}
		var messages sync.WaitGroup
		began := time.Now()
		for _, id := range []string{"one", "one", "one", "two", "three"} {
			messages.Go(func() {
				if err := handle(t.Context(), due.Item{Tenant: tenant, Kind: due.Connection, ID: id}); err != nil {
					t.Error(err)
				}
			})
		}
		messages.Wait()
		if s.most["one"] != 1 || s.most["all"] != 3 || time.Since(began) != 3*time.Second {
			t.Errorf("at once: %v, in %v", s.most, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		held := make(chan error)
		go func() { held <- handle(t.Context(), due.Item{Tenant: tenant, Kind: due.Connection, ID: "one"}) }()
		synctest.Wait()
		if err := handle(ctx, due.Item{Tenant: tenant, Kind: due.Connection, ID: "one"}); !errors.Is(err,
			context.DeadlineExceeded) {
			t.Errorf("out of time: got %v", err)
		}
		if err := <-held; err != nil {
			t.Error(err)
		}
	})
}
