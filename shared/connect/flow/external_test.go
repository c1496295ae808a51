package flow_test

import (
	"slices"
	"testing"

	"recordbridge/shared/words/secret"
)

// external returns the mark of one of the tenant's external ids.
func external(t *testing.T, id string) secret.Mark {
	t.Helper()
	return newKeyring(t).Sign([]byte("external|" + tenant.Key() + "|" + id))
}

// A reconnect may give the patient another external id; one that gives none keeps the previous one.
func TestReconnectWithoutExternalIDKeepsPreviousOne(t *testing.T) {
	t.Parallel()
	w := newWorld()
	conn := w.connected(t)
	conn.External = external(t, "patient-6")
	w.conns[connID] = conn
	r := reconnectRequest(t)
	r.ExternalID = ""
	b := w.start(t, r)
	if _, err := w.completer(t).Complete(t.Context(), b.back()); err != nil {
		t.Fatal(err)
	}
	if got := conclusionOf(t, w).Connection.External; !slices.Equal(got.Sum, conn.External.Sum) {
		t.Errorf("found by %v", got)
	}
}
