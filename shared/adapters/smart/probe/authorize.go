package probe

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"recordbridge/shared/catalog"
)

// askToSignIn opens the URL to which a patient's browser would be sent. It does not follow redirects, since the query
// is ours.
func (t *signIn) askToSignIn(ctx context.Context) error {
	switch {
	case !t.trusted:
		t.skip(Authorize, "Nobody has approved where patients would sign in.")
		return nil
	case !t.registered:
		t.skip(Authorize, "There is no registration.")
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
		" is registered as redirect URI of client " + plain(t.attempt.ClientID) + ", exactly so."
	switch {
	case seen.status/100 == 3:
		t.judgeRedirect(seen, response)
	case seen.status/100 == 2:
		t.add(Authorize, OK, seen, "A page is shown. Whether it is one to sign in, or tells of a mistake, only a person "+
			"can say.", "")
	case seen.status == http.StatusTooManyRequests || seen.status >= http.StatusInternalServerError:
		t.add(Authorize, Failed, seen, "The authorization endpoint answers with "+described(seen)+".",
			"Try again later; if it stays, ask the health system. "+unregistered)
	case seen.status == http.StatusNotFound:
		t.add(Authorize, Failed, seen, "There is nothing at the authorization endpoint that discovery names (404).",
			"Ask the health system where patients sign in.")
	default:
		t.add(Authorize, Warning, seen, "The authorization endpoint answers with "+described(seen)+
			": probably it does not know the client id or the redirect URI "+
			plain(t.attempt.Callback)+", or refuses programs.", unregistered)
	}
	return nil
}

// judgeRedirect distinguishes a redirect to a page from an error response (RFC 6749 section 4.1.2.1). It reports an
// error's code only if it is a known one.
func (t *signIn) judgeRedirect(seen exchange, response *http.Response) {
	to, err := response.Location()
	if err != nil {
		t.add(Authorize, Warning, seen, "The authorization endpoint redirects to nowhere.", "Ask the health system.")
		return
	}
	if !t.isCallback(to) {
		t.add(Authorize, OK, seen, "It redirects to "+plain(catalog.Origin(to.String()))+
			", as to a page to sign in. Nobody went there.", "")
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
		t.add(Authorize, Warning, seen, "It sends the patient straight back, without a page to sign in.",
			"Ask the health system.")
	default:
		t.add(Authorize, Failed, seen, fmt.Sprintf("It knows client and redirect URI, and refuses the request: %s.", code),
			refusedRequest(code))
	}
}

// isCallback reports whether a URL is our redirect URI, whatever its query.
func (t *signIn) isCallback(to *url.URL) bool {
	callback, err := url.Parse(t.attempt.Callback)
	return err == nil && callback.Scheme == to.Scheme && callback.Host == to.Host && callback.Path == to.Path
}

func refusedRequest(code string) string {
	switch code {
	case "invalid_scope":
		return "Compare the scopes above with those that the health system has granted our client; registration set … -scope."
	case "unauthorized_client":
		return "Ask the health system to switch our app on."
	case "invalid_request", "unsupported_response_type":
		return "Something is sent that this server refuses, such as aud: compare with its documents, then endpoint " +
			"override ('authorize: {aud: none}')."
	}
	return "Try again later; if it stays, ask the health system."
}
