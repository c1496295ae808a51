package smart_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

func TestRevokeIgnoresRejectionByServer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		asked  bool
		wait   time.Duration
	}{
		"200":                      {reply(http.StatusOK, ""), true, 0},
		"204":                      {reply(http.StatusNoContent, ""), true, 0},
		"a page":                   {reply(http.StatusOK, "<html>"), true, 0},
		"a code with 200":          {reply(http.StatusOK, `{"error":"invalid_client"}`), true, 0},
		"400":                      {reply(http.StatusBadRequest, `{"error":"unsupported_token_type"}`), true, 0},
		"an unknown token":         {reply(http.StatusBadRequest, `{"error":"invalid_grant"}`), true, 0},
		"401 without a code":       {reply(http.StatusUnauthorized, "<html>"), true, 0},
		"403 that names no client": {reply(http.StatusForbidden, `{"error":"access_denied"}`), true, 0},
		"404":                      {reply(http.StatusNotFound, ""), true, 0},
		"an unknown client": {reply(http.StatusUnauthorized,
			`{"error":"invalid_client","error_description":"Maple"}`), false, 0},
		"a forbidden client":  {reply(http.StatusForbidden, `{"error":"invalid_client"}`), false, 0},
		"408":                 {reply(http.StatusRequestTimeout, ""), false, 0},
		"429":                 {reply(http.StatusTooManyRequests, "", "Retry-After", "30"), false, 30 * time.Second},
		"500":                 {reply(http.StatusInternalServerError, "Maple"), false, 0},
		"503":                 {reply(http.StatusServiceUnavailable, "", "Retry-After", "3600"), false, time.Hour},
		"too large a failure": {reply(http.StatusBadGateway, strings.Repeat("Maple ", 100<<10)), false, 0},
		"too large a refusal": {reply(http.StatusBadRequest, strings.Repeat("Maple ", 100<<10)), true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEHR(t, map[string]http.HandlerFunc{"/revoke": test.answer})
			set := e.confidential()
			set.ClientAuthID = ""
			var revoker refresh.Revoker = portal(doer(), time.Now, public{})
			err := revoker.Revoke(t.Context(), tenant(), set)
			if (err == nil) != test.asked || err != nil &&
				(!errors.Is(err, fault.Unavailable) || fault.Of(err).RetryAfter != test.wait) {
				t.Errorf("got %v, want it settled: %t", err, test.asked)
			}
			if err != nil && (strings.Contains(err.Error(), "aple") || strings.Contains(err.Error(), "127.0.0.1")) {
				t.Errorf("the error says too much: %v", err)
			}
			want := query("token", "refresh-maple", "token_type_hint", "refresh_token", "client_id", "client")
			if diff := cmp.Diff(want, e.requests()[0].PostForm); diff != "" {
				t.Errorf("form (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRevokeUsesAccessTokenWhenRefreshTokenIsMissing(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{"/revoke": reply(http.StatusOK, "")})
	portal, set := portal(doer(), time.Now, public{}), e.confidential()
	set.ClientAuthID, set.RefreshToken = "", secret.Text{}
	if err := portal.Revoke(t.Context(), org.Tenant{}, set); err != nil {
		t.Fatal(err)
	}
	want := query("token", "access-maple", "token_type_hint", "access_token", "client_id", "client")
	if diff := cmp.Diff(want, e.requests()[0].PostForm); diff != "" {
		t.Errorf("form (-want +got):\n%s", diff)
	}
	set.AccessToken = secret.Text{}
	if err := portal.Revoke(t.Context(), org.Tenant{}, set); err != nil || len(e.requests()) != 1 {
		t.Errorf("nothing to revoke: %v after %d requests", err, len(e.requests()))
	}
	set = e.confidential()
	set.RevocationEndpoint = ""
	if err := portal.Revoke(t.Context(), org.Tenant{}, set); err != nil || len(e.requests()) != 1 {
		t.Errorf("nowhere to revoke: %v after %d requests", err, len(e.requests()))
	}
}

func TestRevokeRejectsRedirect(t *testing.T) {
	t.Parallel()
	evil := newEHR(t, map[string]http.HandlerFunc{"": reply(http.StatusOK, "")})
	e := newEHR(t, map[string]http.HandlerFunc{"/revoke": reply(http.StatusTemporaryRedirect, "", "Location", evil.URL)})
	set := e.confidential()
	set.ClientAuthID = ""
	if err := portal(doer(), time.Now, public{}).Revoke(t.Context(), tenant(), set); !errors.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	if got := len(evil.requests()); got != 0 {
		t.Errorf("the other server got %d requests", got)
	}
}

func TestRevokeReturnsRetryableErrorWithoutResponse(t *testing.T) {
	t.Parallel()
	e := newEHR(t, nil)
	e.Close()
	set := e.confidential()
	set.ClientAuthID = ""
	err := portal(doer(), time.Now, public{}).Revoke(t.Context(), tenant(), set)
	if !errors.Is(err, fault.Unavailable) || strings.Contains(err.Error(), "maple") {
		t.Errorf("got %v", err)
	}
}
