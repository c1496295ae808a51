package smart_test

import (
	"fmt"
	"strings"
	"testing"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/fhir"
)

func TestExchangeTruncatesGrantedScopeByImportance(t *testing.T) {
	t.Parallel()
	granted := make([]string, 0, 9002)
	for i := range 9000 {
		granted = append(granted, fmt.Sprintf("launch/x%d", i))
	}
	granted = append(granted, "patient/Observation.rs", "patient/Patient.rs", "patient/*.read")
	body := fmt.Sprintf(`{"access_token":"a","token_type":"Bearer","scope":%q}`, strings.Join(granted, " "))
	answer, err := portal(answering{body: body}, noon, public{}).Exchange(t.Context(), flow.Grant{Attempt: flow.Attempt{
		Server: flow.Server{TokenEndpoint: "https://ehr.example/token"}, Client: flow.Client{ClientID: "client"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Scope) > 12<<10 || !strings.HasPrefix(answer.Scope,
		"patient/Patient.rs patient/*.read patient/Observation.rs launch/x0 launch/x1 ") {
		t.Errorf("%d bytes: %.100s", len(answer.Scope), answer.Scope)
	}
	for scope := range strings.FieldsSeq(answer.Scope) {
		if !strings.Contains(" "+strings.Join(granted, " ")+" ", " "+scope+" ") {
			t.Errorf("%q was not granted", scope)
		}
	}
	if !fhir.ParseScopes(answer.Scope).Allows("Patient", fhir.Read) {
		t.Error("the scope of all types is cut")
	}
}

func TestExchangeRejectsTokenWithInvalidHeaderCharacters(t *testing.T) {
	t.Parallel()
	exchange := func(access, refresh int) (tokens.Set, error) {
		body := fmt.Sprintf(`{"access_token":%q,"refresh_token":%q}`, strings.Repeat("<", access),
			strings.Repeat("<", refresh))
		return portal(answering{body: body}, noon, public{}).Exchange(t.Context(), flow.Grant{Attempt: flow.Attempt{
			Server: flow.Server{TokenEndpoint: "https://ehr.example/token"}, Client: flow.Client{ClientID: "client"},
		}})
	}
	if got, err := exchange(16<<10, 16<<10); err != nil || got.AccessToken.Empty() || got.RefreshToken.Empty() {
		t.Errorf("16 KiB each: %v", err)
	}
	if _, err := exchange(16<<10+1, 1); err == nil {
		t.Error("a longer access token is taken")
	}
	if got, err := exchange(1, 16<<10+1); err != nil || !got.RefreshToken.Empty() {
		t.Errorf("a longer refresh token: %v, taken %t", err, !got.RefreshToken.Empty())
	}
}

func TestDiscoverRejectsOverlongEndpointsAndIssuer(t *testing.T) {
	t.Parallel()
	long := "https://ehr.example/" + strings.Repeat("a", 2<<10)
	for name, members := range map[string]string{
		"issuer": `"issuer":"` + long +
			`","authorization_endpoint":"https://ehr.example/a","token_endpoint":"https://ehr.example/t"`,
		"authorization": `"authorization_endpoint":"` + long + `","token_endpoint":"https://ehr.example/t"`,
		"token":         `"authorization_endpoint":"https://ehr.example/a","token_endpoint":"` + long + `"`,
	} {
		if _, err := smart.Discover(t.Context(), answering{body: "{" + members + "}"},
			"https://ehr.example/fhir"); err == nil {
			t.Errorf("%s: a longer one is taken", name)
		}
	}
}
