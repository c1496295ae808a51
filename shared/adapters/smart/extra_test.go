package smart_test

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/secret"
)

const (
	anAccessToken  = "an-access-token"
	aRefreshToken  = "a-refresh-token"
	anIDToken      = "an.id.token"
	tokensOfAnswer = `"access_token":"` + anAccessToken + `","refresh_token":"` + aRefreshToken + `","patient":"p"`
)

// exchangeFor exchanges a code and requests the wanted extra fields. The token response contains the tokens and the
// given members.
func exchangeFor(t *testing.T, members string, wanted ...string) tokens.Set {
	t.Helper()
	body := "{" + tokensOfAnswer + members + "}"
	set, err := portal(answering{body: body}, noon, public{}).Exchange(t.Context(), flow.Grant{Attempt: flow.Attempt{
		Tenant:     tenant(),
		Server:     flow.Server{TokenEndpoint: "https://ehr.example/token"},
		Client:     flow.Client{ClientID: "client"},
		Parameters: flow.Parameters{Extra: wanted},
	}, Code: secret.New("code")})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestExchangeStoresConfiguredExtraFields(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		members string
		wanted  []string
		want    map[string]string
	}{
		"a string": {
			`,"practice":"a-1.195900"`,
			[]string{"practice"},
			map[string]string{"practice": "a-1.195900"},
		},
		"two":      {`,"b":"2","c":"3","a":"1"`, []string{"b", "a", "b"}, map[string]string{"a": "1", "b": "2"}},
		"a number": {`,"practice":195900`, []string{"practice"}, map[string]string{"practice": "195900"}},
		"a number beyond 2^53": {
			`,"practice": -9007199254740993 `,
			[]string{"practice"},
			map[string]string{"practice": "-9007199254740993"},
		},
		"a number beyond all":  {`,"practice":1e999`, []string{"practice"}, map[string]string{"practice": "1e999"}},
		"none that is wanted":  {`,"practice":"a-1"`, nil, nil},
		"one not sent":         {``, []string{"practice"}, map[string]string{"practice": ""}},
		"one in other letters": {`,"Practice":"a-1"`, []string{"practice"}, map[string]string{"practice": ""}},
		"the last of two": {
			`,"practice":"a-1","practice":"a-2"`,
			[]string{"practice"},
			map[string]string{"practice": "a-2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, exchangeFor(t, test.members, test.wanted...).Extra); diff != "" {
				t.Errorf("extra (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExchangeRejectsHostileExtraFields(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"an object":         `{"practice":"a-1"}`,
		"an array":          `["a-1"]`,
		"true":              `true`,
		"null":              `null`,
		"nothing":           `""`,
		"too large":         `"` + strings.Repeat("1", 513) + `"`,
		"too large, number": strings.Repeat("1", 513),
		"far too large":     `"` + strings.Repeat("1", 200<<10) + `"`,
		"a space":           `"a 1"`,
		"a new line":        `"a\r\nX-Evil: 1"`,
		"a null character":  `"a\u0000"`,
		"beyond ASCII":      `"pr\u00e4ctice"`,
		"the access token":  `"` + anAccessToken + `"`,
		"the refresh token": `"` + aRefreshToken + `"`,
		"a token within":    `"Bearer-` + anAccessToken + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(map[string]string{"practice": ""},
				exchangeFor(t, `,"practice":`+value, "practice").Extra); diff != "" {
				t.Errorf("extra (-want +got):\n%s", diff)
			}
		})
	}
	if got := exchangeFor(t, `,"practice":"`+strings.Repeat("1", 512)+`"`, "practice").Extra["practice"]; len(got) != 512 {
		t.Errorf("%d bytes are kept, want 512", len(got))
	}
}

// TestRefreshDropsIDTokenFromExtraFields uses a refresh, because an exchange would reject this id_token before storing
// any field.
func TestRefreshDropsIDTokenFromExtraFields(t *testing.T) {
	t.Parallel()
	body := "{" + tokensOfAnswer + `,"id_token":"` + anIDToken + `","practice":"` + anIDToken + `"}`
	set, err := portal(answering{body: body}, noon, public{}).Refresh(t.Context(), tenant(), tokens.Set{
		TokenEndpoint: "https://ehr.example/token", ClientID: "client", RefreshToken: secret.New("r"),
		Extra: map[string]string{"practice": ""},
	})
	if value, ok := set.Extra["practice"]; err != nil || !ok || value != "" {
		t.Errorf("kept %q: %v", value, err)
	}
}

func TestExchangeDropsTokensFromExtraFields(t *testing.T) {
	t.Parallel()
	set := exchangeFor(t, `,"id_token_hint":"h","client_secret":"s"`, "access_token", "refresh_token", "id_token_hint",
		"client_secret", "")
	if set.Extra != nil {
		t.Errorf("kept %v, want nothing", slices.Sorted(maps.Keys(set.Extra)))
	}
	if set.AccessToken.Reveal() != anAccessToken || set.RefreshToken.Reveal() != aRefreshToken {
		t.Error("the tokens themselves are not in the set")
	}
}

func TestExchangeStoresAtMostEightExtraFields(t *testing.T) {
	t.Parallel()
	var members strings.Builder
	wanted := make([]string, 0, 20)
	for i := range cap(wanted) {
		name := "f" + strconv.Itoa(i)
		members.WriteString(`,"` + name + `":` + strconv.Itoa(i))
		wanted = append(wanted, name)
	}
	if got := exchangeFor(t, members.String(), wanted...).Extra; len(got) != tokens.MaxExtra {
		t.Errorf("kept %d fields, want %d", len(got), tokens.MaxExtra)
	}
}

func TestRefreshKeepsExtraFieldsMissingFromResponse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		members   string
		had, want map[string]string
	}{
		"none is sent":        {``, map[string]string{"a": "1", "b": "2"}, map[string]string{"a": "1", "b": "2"}},
		"one is sent":         {`,"b":3`, map[string]string{"a": "1", "b": "2"}, map[string]string{"a": "1", "b": "3"}},
		"one is sent at last": {`,"a":"1"`, map[string]string{"a": ""}, map[string]string{"a": "1"}},
		"one is sent spoiled": {
			`,"a":{},"b":null`,
			map[string]string{"a": "1", "b": "2"},
			map[string]string{"a": "1", "b": "2"},
		},
		"one that nobody wants":   {`,"c":"3"`, map[string]string{"a": "1"}, map[string]string{"a": "1"}},
		"nothing was ever wanted": {`,"a":"1","access_token_2":"x"`, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			had := maps.Clone(test.had)
			set, err := portal(answering{body: `{"access_token":"a"` + test.members + `}`}, noon, public{}).Refresh(t.Context(),
				tenant(), tokens.Set{
					TokenEndpoint: "https://ehr.example/token", FHIRBase: "https://ehr.example/r4", ClientID: "client",
					RefreshToken: secret.New("r"), AskedScope: "asked", Extra: had,
				})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, set.Extra); diff != "" || set.AskedScope != "asked" {
				t.Errorf("asked %q, extra (-want +got):\n%s", set.AskedScope, diff)
			}
			if diff := cmp.Diff(test.had, had); diff != "" {
				t.Errorf("the old set was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestExchangeDropsExtraFieldsFromErrorResponse(t *testing.T) {
	t.Parallel()
	_, err := portal(answering{status: http.StatusBadRequest, body: `{"error":"invalid_grant","practice":"alder"}`},
		noon, public{}).
		Exchange(t.Context(), flow.Grant{Attempt: flow.Attempt{
			Server:     flow.Server{TokenEndpoint: "https://ehr.example/token"},
			Client:     flow.Client{ClientID: "client"},
			Parameters: flow.Parameters{Extra: []string{"practice"}},
		}})
	if err == nil || strings.Contains(err.Error(), "alder") {
		t.Errorf("got %v, want an error without the answer's fields", err)
	}
}
