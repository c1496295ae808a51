package tokens_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/org"
)

func TestVaultRoundTripsTokenSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Hour)
	got, row := w.stored(t)
	if diff := cmp.Diff(setOf(start.Add(time.Hour)), got); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
	if row.Version != 1 {
		t.Errorf("version = %d, want 1", row.Version)
	}
	empty := tokens.Set{AccessToken: got.AccessToken, ExpiresAt: start}
	sealed, err := w.vault.Seal(t.Context(), tenant, connID, 2, empty)
	expect.NoError(t, err)
	opened, err := w.vault.Open(t.Context(), sealed)
	expect.NoError(t, err)
	if !opened.RefreshToken.Empty() || !opened.PatientID.Empty() || opened.Records != nil {
		t.Error("a set without a refresh token came back with one")
	}
	cached := tokens.Set{Scope: "patient/*.read", ExpiresAt: start, Records: &tokens.Records{
		Generation: 2, Batch: "batch", Chunks: 3, Documents: 4, Lost: map[string]int{"unavailable": 1},
		Fixtures: map[string]int{"alder.xml": 1}, Until: start,
	}}
	sealed, err = w.vault.Seal(t.Context(), tenant, connID, 3, cached)
	expect.NoError(t, err)
	opened, err = w.vault.Open(t.Context(), sealed)
	expect.NoError(t, err)
	if diff := cmp.Diff(cached, opened); diff != "" {
		t.Errorf("of a cached record (-want +got):\n%s", diff)
	}
}

func TestVaultRejectsTokenSetMovedToAnotherRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Hour)
	_, row := w.stored(t)
	moves := map[string]func(*tokens.Row){
		"another connection":           func(r *tokens.Row) { r.ConnectionID = "c0000000-0000-4000-8000-000000000002" },
		"another organisation":         func(r *tokens.Row) { r.Tenant.OrgID = "0b000000-0000-4000-8000-00000000000b" },
		"the other mode":               func(r *tokens.Row) { r.Tenant.Mode = org.Live },
		"a later version":              func(r *tokens.Row) { r.Version++ },
		"an earlier version":           func(r *tokens.Row) { r.Version-- },
		"parts shifted to a neighbour": func(r *tokens.Row) { r.Tenant.OrgID += "|" + r.ConnectionID; r.ConnectionID = "1" },
		"a changed byte":               func(r *tokens.Row) { r.Sealed[len(r.Sealed)-1] ^= 1 },
		"nothing":                      func(r *tokens.Row) { r.Sealed = nil },
	}
	for name, move := range moves {
		moved := row
		moved.Sealed = append([]byte{}, row.Sealed...)
		move(&moved)
		if _, err := w.vault.Open(t.Context(), moved); err == nil {
			t.Errorf("a row with %s opens", name)
		}
	}
}
