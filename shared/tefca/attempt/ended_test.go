package attempt_test

import (
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/words/fault"
)

func TestConnectionExpiresWithCachedRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.located(t, attemptID, "x", "a", "not chosen")
	w.choose(t, attemptID, "a")
	store := &failing{WorkStore: w.rows}
	w.worker.Store = store
	w.look(t, attemptID)
	f := w.facilities(t, attemptID)["a"]
	c := w.connection(t, f.Connected.ConnectionID)
	ends := start.Add(24 * time.Hour)
	if !f.Connected.ConsentExpiresAt.Equal(ends) || len(f.Local) != 0 || !f.LeaseUntil.IsZero() {
		t.Errorf("the facility is %+v", f)
	}
	set, err := w.worker.Vault.Open(t.Context(), store.end.Tokens)
	if expect.NoError(t, err); set.Scope != "patient/*.read" || set.AskedScope != set.Scope || set.Records == nil ||
		set.Records.Batch != "b" || !set.ExpiresAt.Equal(ends) {
		t.Errorf("the tokens are %+v", set)
	}
	for _, part := range []string{
		`"request_id":"request-1"`, `"external_id":"x"`, `"external_state":"visit-9"`,
		`"tefca_directory_id":"a"`, c.ID,
	} {
		if body := string(store.end.Events[0].Body); !strings.Contains(body, part) {
			t.Errorf("the event does not tell %s: %s", part, body)
		}
	}
	if c.Status != connection.Authorized || c.Scope != "patient/*.read" || c.PlatformType != "tefca" ||
		c.EndpointID != "" || !c.CreatedAt.Equal(start) || !c.ConsentExpiresAt.Equal(ends) ||
		!c.Refresh.RefreshAt.Equal(ends) || !c.Refresh.Unrenewable || !c.Refresh.Warned || len(c.External.Sum) == 0 ||
		c.ExternalID == "" || len(w.told) != 2 {
		t.Errorf("the connection is %+v; told were %v", c, w.told)
	}
	if content := w.kept["b"]; content.Generation != 1 || content.Fixtures["alder.xml"] == nil {
		t.Errorf("kept is %+v", content)
	}
	w.pass(15 * time.Minute)
	w.look(t, attemptID)
	a, left := w.attempt(t, attemptID), w.facilities(t, attemptID)
	if len(a.Assertion)+len(left["not chosen"].Local) != 0 || !a.DueAt.IsZero() || left["a"].Rev != f.Rev {
		t.Errorf("the identity is still there: %+v, %+v", a, left)
	}
	w.look(t, attemptID) // duplicate message
	if again := w.attempt(t, attemptID); again.Rev != a.Rev {
		t.Errorf("with nothing to do it becomes %+v", again)
	}
	w.look(t, "4b2e6da1-3c8f-4d20-9b63-8e1f0a7c5d32") // message about a deleted attempt
	w.pass(-time.Second)                              // simulates a function whose clock is slow
	_, err = w.chooser().Choose(t.Context(), tenant, attemptID, pageToken(), []string{"a"})
	refused(t, "a choice without an identity", err, fault.Conflict, "attempt_id")
}

func TestConcludeDoesNotRestoreEndedConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.located(t, attemptID, "x", "a")
	w.choose(t, attemptID, "a")
	w.look(t, attemptID)
	id := w.facilities(t, attemptID)["a"].Connected.ConnectionID
	const next, last = "4b2e6da1-3c8f-4d20-9b63-8e1f0a7c5d32", "5c3f7eb2-4d90-4e31-8c74-9f201b8d6e43"
	w.located(t, next, "x", "a")
	w.choose(t, next, "a")
	w.pass(time.Second)
	c := w.connection(t, id)
	c.Status, c.Refresh = connection.Revoked, connection.RefreshState{Ended: connection.Disconnected, EndedAt: w.time()}
	expect.NoError(t, w.save(t, c))
	w.look(t, next)
	if f := w.facilities(t, next)["a"]; f.Outcome != attempt.HasFailed || f.Reason != attempt.ReasonRefused ||
		w.connection(t, id).Status != connection.Revoked {
		t.Errorf("it is %+v", f)
	}
	w.located(t, last, "x", "a") // a later sign-in represents a new decision by the person
	w.choose(t, last, "a")
	w.look(t, last)
	if c = w.connection(t, id); c.Status != connection.Authorized || c.Generation != 2 || c.Refresh.Ended != "" {
		t.Errorf("afterwards it is %+v", c)
	}
	const more = "6d408fc3-5ea1-4f42-8d85-a0312c9e7f54"
	w.located(t, more, "x", "a")
	w.choose(t, more, "a")
	w.pass(time.Second)
	c.Status, c.Refresh = connection.Revoked, connection.RefreshState{Ended: connection.AccessEnded, EndedAt: w.time()}
	expect.NoError(t, w.save(t, c)) // the connection was ended, but not by the organisation
	w.look(t, more)
	if c = w.connection(t, id); c.Status != connection.Authorized || c.Generation != 3 {
		t.Errorf("after its record has ended meanwhile it is %+v", c)
	}
}
