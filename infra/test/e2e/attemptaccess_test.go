package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/words/ids"
)

// TestGetAttemptHidesAttemptStartedByRedirect checks that the API doesn't return an attempt started by a redirect. The
// attempt has no token, and no response reveals its ID.
func TestGetAttemptHidesAttemptStartedByRedirect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		checkBearer(t, s.outside, attemptOfARedirect(t, s))
	})
}

// checkBearer checks that requests with a wrong token, ID or public ID get the same response as requests for a
// nonexistent attempt. Requests for the attempts in hidden must get the same response.
func checkBearer(t *testing.T, o *outside, hidden ...string) {
	t.Helper()
	own, live := o.seeded.Organisations[0].PublicID, o.seeded.Organisations[1].PublicID
	ask := map[string]string{"endpoint_id": o.seeded.Sandbox.EndpointID}
	first, second := o.patient.makeAttempt(ask), o.patient.makeAttempt(ask)
	unknown := o.patient.requestAttempt(attempt{ID: ids.Random(), Token: first.Token}, own)
	if unknown.status != http.StatusNotFound || unknown.Error != "svc_not_found" {
		t.Fatalf("an unknown attempt answered %d %s", unknown.status, unknown.raw)
	}
	type reader struct {
		attempt

		publicID string
	}
	readers := map[string]reader{
		"a wrong token":           {attempt{ID: first.ID, Token: ids.Random()}, own},
		"no token":                {attempt{ID: first.ID}, own},
		"another attempt's token": {attempt{ID: first.ID, Token: second.Token}, own},
		"the other attempt's id":  {attempt{ID: second.ID, Token: first.Token}, own},
		"another organisation":    {first, o.seeded.Organisations[2].PublicID},
		"the other mode":          {first, live},
		"an invalid UUID":         {attempt{ID: "x", Token: first.Token}, own},
		"the token's case":        {attempt{ID: first.ID, Token: strings.ToUpper(first.Token)}, own},
		"a longer token":          {attempt{ID: first.ID, Token: first.Token + "A"}, own},
	}
	for _, id := range hidden {
		readers["a hidden attempt"] = reader{attempt{ID: id, Token: first.Token}, own}
		readers["an empty token for a hidden attempt"] = reader{attempt{ID: id}, own}
	}
	for name, c := range readers {
		for _, got := range []answer{
			o.patient.requestAttempt(c.attempt, c.publicID),
			o.patient.cancelAs("/bridge/attempts/"+c.ID, c.Token, c.publicID),
		} {
			if got.status != unknown.status || got.Error != unknown.Error || got.Description != unknown.Description ||
				len(got.Data) != 0 || got.header.Get("X-Amzn-Remapped-Www-Authenticate") != "" {
				t.Errorf("%s: answered %d %s, want as %s", name, got.status, got.raw, unknown.raw)
			}
		}
	}
	basic := o.call(http.MethodGet, "/bridge/attempts/"+first.ID+"?public_id="+own, own,
		o.seeded.Organisations[0].PrivateKey, nil)
	if basic.status != unknown.status || basic.Error != unknown.Error {
		t.Errorf("the organisation's key reads it: %d %s", basic.status, basic.raw)
	}
	if status, got := o.patient.readAttempt(first, own); status != http.StatusOK || got.Status != "created" {
		t.Errorf("its own token reads %d %+v", status, got)
	}
}

// attemptOfARedirect starts an attempt by a redirect, without a widget. It returns the attempt's ID, which clients
// can't see.
func attemptOfARedirect(t *testing.T, s *stack) string {
	t.Helper()
	s.patient.browser().returning(s.patient.connectURL(), crashPersona)
	for _, item := range s.state.browse("test-FlowTable") {
		var key struct{ S string }
		expect.NoError(t, json.Unmarshal(item["pk"], &key))
		if strings.HasPrefix(key.S, "ATTEMPT#") && item["token_hash"] == nil {
			return key.S[strings.LastIndexByte(key.S, '#')+1:]
		}
	}
	t.Fatal("there is no such attempt")
	return ""
}
