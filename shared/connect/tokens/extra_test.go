package tokens_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/secret"
)

// TestVaultReadsEarlierFormat covers an earlier format without extra fields or the requested scope.
func TestVaultReadsEarlierFormat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Hour)
	sealed, err := w.vault.Sealer.Seal(t.Context(), tenant, "tokens|"+tenant.Key()+"|"+connID+"|7", []byte(`{
		"access_token":"access 1","refresh_token":"refresh 1","patient_id":"patient 1","scope":"patient/*.read",
		"fhir_base":"https://fhir.example/r4","token_endpoint":"https://fhir.example/token","client_id":"client",
		"expires_at":"2026-01-02T03:04:05Z"}`))
	expect.NoError(t, err)
	got, err := w.vault.Open(t.Context(), tokens.Row{Tenant: tenant, ConnectionID: connID, Sealed: sealed, Version: 7})
	expect.NoError(t, err)
	want := tokens.Set{
		AccessToken: secret.New("access 1"), RefreshToken: secret.New("refresh 1"), PatientID: secret.New("patient 1"),
		Scope: "patient/*.read", FHIRBase: "https://fhir.example/r4", TokenEndpoint: "https://fhir.example/token",
		ClientID: "client", ExpiresAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
}

func TestMayBeExtraRejectsSecretNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"ah_practice": true, "ah-practice": true, "site7": true, "Tenant": true, strings.Repeat("n", 64): true,
		"": false, strings.Repeat("n", 65): false, "a b": false, "a{b": false, "a.b": false, "präctice": false,
		"access_token": false, "refresh_token": false, "id_token": false, "Access_Token": false, "AccessToken": false,
		"client_secret": false, "SECRET": false,
	} {
		if got := tokens.MayBeExtra(name); got != want {
			t.Errorf("%q may be kept: %t, want %t", name, got, want)
		}
	}
}
