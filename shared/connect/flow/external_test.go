package flow_test

import (
	"slices"
	"testing"

	"recordbridge/shared/words/secret"
)

func external(t *testing.T, id string) secret.Mark {
	t.Helper()
	return newKeyring(t).Sign([]byte("external|" + tenant.Key() + "|" + id))
}

// TestReconnectWithoutExternalIDKeepsPreviousOne checks that a reconnect replaces the external ID only if it supplies
// one.
func TestReconnectWithoutExternalIDKeepsPreviousOne(t *testing.T) {
	t.Parallel()
	w := newWorld()
	conn := w.connected(t)
	conn.ExternalID, conn.External = "patient-6", external(t, "patient-6")
	w.conns[connID] = conn
	r := reconnectRequest(t)
	r.ExternalID = ""
	b := w.start(t, r)
	if _, err := w.completer(t).Complete(t.Context(), b.back()); err != nil {
		t.Fatal(err)
	}
	if got := conclusionOf(t, w).Connection; got.ExternalID != "patient-6" ||
		!slices.Equal(got.External.Sum, conn.External.Sum) {
		t.Errorf("external ID %q, hash %v", got.ExternalID, got.External)
	}
}
