package flow

import (
	"fmt"
	"net/url"
	"strings"
)

// MaxQuery is the longest authorization request query, in bytes, that portals are known to accept. The value is the
// default limit in IIS (requestLimits, maxQueryString) and in gateways in front of other servers.
const MaxQuery = 2048

// sample stands in for a state, nonce or challenge that has not been generated yet. It consists of 32 bytes in
// base64url without padding.
const sample = "0123456789012345678901234567890123456789012"

// fit returns an attempt's scope, shortened if necessary. If the scope's resource types come from the server's own
// list, fit drops types from the end until the request fits MaxQuery. The types that an export needs least come last.
// The connection records the requested scope, so an export does not mistake a dropped type for one that the patient
// withheld. leftOut is the number of dropped scopes.
func (s Preparation) fit(attempt Attempt) (scope string, leftOut int, err error) {
	challenge, nonce := sample, ""
	if attempt.NoChallenge {
		challenge = ""
	}
	if attempt.Nonce {
		nonce = sample
	}
	request := attempt.request(sample, challenge, nonce)
	whole, err := s.Portal.AuthorizeURL(request)
	if err != nil {
		return "", 0, fmt.Errorf("measure authorize address: %w", err)
	}
	_, query, _ := strings.Cut(whole, "?")
	scopes := strings.Fields(attempt.Scope)
	kept := len(scopes)
	for over := len(query) - MaxQuery; over > 0 && kept > 0 && isOptional(scopes[kept-1]); kept-- {
		over -= len(url.QueryEscape(" " + scopes[kept-1]))
	}
	return strings.Join(scopes[:kept], " "), len(scopes) - kept, nil
}

// isOptional reports whether a request is still useful without scope. The Patient scope and the scope for a refresh
// token are not optional.
func isOptional(scope string) bool {
	return strings.HasPrefix(scope, "patient/") && !strings.HasPrefix(scope, "patient/Patient.")
}

func (a Attempt) request(state, challenge, nonce string) Authorization {
	return Authorization{
		Endpoint: a.AuthorizationEndpoint, ClientID: a.ClientID, RedirectURI: a.Callback, Scope: a.Scope,
		State: state, Aud: a.Aud, Challenge: challenge, Nonce: nonce,
	}
}
