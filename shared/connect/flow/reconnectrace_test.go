package flow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/secret"
)

func TestReconnectRetriesAfterLostRace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		losses int // number of attempts that lose a race with another writer
		good   bool
	}{"once": {1, true}, "in all tries but one": {retry.Tries - 1, true}, "always": {retry.Tries, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.connected(t)
			b := w.start(t, reconnectRequest(t))
			w.meddle = func() { // a refresh rotates the tokens, and a worker saves the connection
				if c.losses--; c.losses < 0 {
					return
				}
				row, conn := w.rows[connID], w.conns[connID]
				row.Version, conn.Rev = row.Version+1, conn.Rev+1
				w.rows[connID], w.conns[connID] = row, conn
			}
			losses := c.losses
			_, err := w.completer(t).Complete(t.Context(), b.back())
			if len(w.grants) != 1 {
				t.Errorf("the code was exchanged %d times", len(w.grants))
			}
			if c.good {
				if got := w.rows[connID].Version; err != nil || got != int64(6+losses) {
					t.Errorf("got %v, tokens of version %d", err, got)
				}
				return
			}
			wantFault(t, err, fault.Unavailable, fault.CodeUnavailable)
			wantTold(t, w, err, "try_again")
			if w.conns[connID].Status != connection.Revoked {
				t.Errorf("the connection is %s", w.conns[connID].Status)
			}
		})
	}
}

func TestReconnectReadsInitialsOnceDespiteConflicts(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.connected(t)
	r := widgetRequest(t)
	r.Reconnect, r.EndpointID, r.BrandID, r.PortalID = connID, "", "", ""
	p := w.create(t, r)
	losses := retry.Tries - 1
	w.meddle = func() {
		if losses--; losses >= 0 {
			conn := w.conns[connID]
			conn.Rev++
			w.conns[connID] = conn
		}
	}
	_, err := w.completer(t).Complete(t.Context(), w.leave(t, p.Start).back())
	if err != nil || losses >= 0 || len(w.named) != 1 {
		t.Errorf("%v, the name was read %d times", err, len(w.named))
	}
}

func TestReconnectComparesPatientSetConcurrently(t *testing.T) {
	t.Parallel()
	w := newWorld()
	conn := w.connected(t)
	conn.Status, conn.Patient = connection.Rejected, secret.Mark{}
	w.conns[connID] = conn
	b := w.start(t, reconnectRequest(t))
	w.meddle = func() { // another patient's reconnect of the same rejected connection completes first
		other := conn
		other.Status, other.Rev, other.Patient = connection.Authorized, conn.Rev+1,
			newKeyring(t).Sign([]byte("patient|"+fhirBase+"|p2"))
		w.conns[connID], w.meddle = other, nil
	}
	_, err := w.completer(t).Complete(t.Context(), b.back())
	wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
	wantTold(t, w, err, "wrong_patient")
}

func TestReconnectPreservesConcurrentDisconnection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		began, now string // values of Refresh.Ended at the start and at the end of the attempt
		good       bool
	}{
		"given up since the sign-in began": {"", connection.Disconnected, false},
		"given up after it was revoked":    {"invalid_grant", connection.Disconnected, false},
		"given up before":                  {connection.Disconnected, connection.Disconnected, true},
		"revoked since":                    {"", "invalid_grant", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			conn := w.connected(t)
			conn.Refresh.Ended = c.began
			w.conns[connID] = conn
			b := w.start(t, reconnectRequest(t))
			conn.Refresh.Ended, conn.Rev = c.now, conn.Rev+1
			w.conns[connID] = conn
			_, err := w.completer(t).Complete(t.Context(), b.back())
			if c.good {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
			wantTold(t, w, err, "given_up")
			if !cmp.Equal(conn, w.conns[connID]) || w.rows[connID].Version != 5 {
				t.Error("the connection changed")
			}
		})
	}
}
