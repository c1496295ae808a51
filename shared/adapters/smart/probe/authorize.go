package probe

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"recordbridge/shared/catalog"
)

// askToSignIn requests the authorization URL that a patient's browser would open. askToSignIn does not follow
// redirects, because the query is confidential.
func (t *signIn) askToSignIn(ctx context.Context) error {
	switch {
	case !t.trusted:
		t.skip(Authorize, "The authorization endpoint has not been approved.")
		return nil
	case !t.registered:
		t.skip(Authorize, "No client is registered.")
		return nil
	}
	t.web.forget()
	response, err := t.get(ctx, t.address, "text/html")
	seen := t.web.last
	if found, do, ok := unanswered(err); ok {
		t.add(Authorize, Failed, seen, found, do)
		return nil
	}
	if err != nil {
		return err
	}
	discard(response)
	unregistered := "Ask the health system whether " + plain(t.attempt.Callback) +
		" is registered as a redirect URI of client " + plain(t.attempt.ClientID) + ", exactly as written."
	switch {
	case seen.status/100 == 3:
		t.judgeRedirect(seen, response)
	case seen.status/100 == 2:
		t.add(Authorize, OK, seen, "The authorization endpoint returned a page. Open it to check whether it is a "+
			"sign-in page or an error.", "")
	case seen.status == http.StatusTooManyRequests || seen.status >= http.StatusInternalServerError:
		t.add(Authorize, Failed, seen, "The authorization endpoint returned "+described(seen)+".",
			"Try again later. If this persists, ask the health system. "+unregistered)
	case seen.status == http.StatusNotFound:
		t.add(Authorize, Failed, seen, "The authorization endpoint from discovery returned 404.",
			"Ask the health system for its authorization endpoint.")
	default:
		t.add(Authorize, Warning, seen, "The authorization endpoint returned "+described(seen)+
			": it probably doesn't know the client ID or the redirect URI "+
			plain(t.attempt.Callback)+", or it blocks automated requests.", unregistered)
	}
	return nil
}

// judgeRedirect distinguishes redirects to a sign-in page from error responses (RFC 6749 section 4.1.2.1). It reports
// an error code only if the code is known.
func (t *signIn) judgeRedirect(seen exchange, response *http.Response) {
	to, err := response.Location()
	if err != nil {
		t.add(Authorize, Warning, seen, "The authorization endpoint returned a redirect without a "+
			"target.", "Ask the health system.")
		return
	}
	if !t.isCallback(to) {
		t.add(Authorize, OK, seen, "It redirects to "+plain(catalog.Origin(to.String()))+
			", probably a sign-in page. The test did not follow the redirect.", "")
		return
	}
	answer := to.Query()
	if fragment, err := url.ParseQuery(to.Fragment); err == nil && !answer.Has("error") {
		answer = fragment
	}
	known := []string{
		"invalid_request", "unauthorized_client", "access_denied", "unsupported_response_type", "invalid_scope",
		"server_error", "temporarily_unavailable",
		"login_required", "consent_required", "interaction_required",
	}
	code := answer.Get("error")
	switch {
	case !slices.Contains(known, code):
		t.add(Authorize, Warning, seen, "It redirects the patient back without showing a sign-in page.",
			"Ask the health system.")
	default:
		t.add(Authorize, Failed, seen, fmt.Sprintf("It recognises the client and the redirect URI, but rejects the "+
			"request: %s.", code),
			refusedRequest(code))
	}
}

// isCallback reports whether a URL is the client's redirect URI, ignoring the query.
func (t *signIn) isCallback(to *url.URL) bool {
	callback, err := url.Parse(t.attempt.Callback)
	return err == nil && callback.Scheme == to.Scheme && callback.Host == to.Host && callback.Path == to.Path
}

func refusedRequest(code string) string {
	switch code {
	case "invalid_scope":
		return "Compare the scopes above with those the health system has granted to our client: registration set … " +
			"-scope."
	case "unauthorized_client":
		return "Ask the health system to activate our app."
	case "invalid_request", "unsupported_response_type":
		return "The server rejects a parameter, such as aud. Check its documentation, then run endpoint set -override " +
			"('authorize: {aud: none}')."
	}
	return "Try again later. If this persists, ask the health system."
}
