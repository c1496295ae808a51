package sandbox

import (
	"net/http"
	"strconv"

	"recordbridge/infra/sandbox/switches"
)

// spoiledOAuth serves an authorization server operation and applies the switches to it.
func (s site) spoiledOAuth(answer *captured, r *http.Request, op operation) error {
	if op == opToken && s.with.Has(switches.TokenMoves) && !s.tokenMoved {
		if _, err := s.portalState.count(r.Context(), tokenUses); err != nil {
			return err
		}
	}
	refused, is := s.refusedOAuth(op)
	if how := s.with.Text(switches.RefreshFails); how != "" && s.refreshes(r, op) {
		over, err := s.failuresOver(r)
		if err != nil {
			return err
		}
		refused, is = failedRefresh(how), !over
	}
	if is {
		answer.replace(refused)

		return nil
	}
	s.call(answer, r, op, nil)

	return nil
}

// refreshes reports whether the request is a token refresh at the token endpoint's current URL.
func (s site) refreshes(r *http.Request, op operation) bool {
	isToken := op == opToken && !s.tokenMoved || op == opMovedToken && s.tokenMoved

	return isToken && r.PostFormValue("grant_type") == "refresh_token"
}

// failuresOver reports whether the request's refresh token has already failed as many times as the switch specifies.
func (s site) failuresOver(r *http.Request) (bool, error) {
	most := s.with.Number(switches.FailsFirst)
	if most == 0 {
		return false, nil
	}
	tries, err := s.portalState.count(r.Context(), "refresh", r.PostFormValue("refresh_token"))

	return tries > most, err
}

// refusedOAuth returns the error, if any, with which a switch replaces the authorization server's response.
func (s site) refusedOAuth(op operation) (refusal, bool) {
	switch {
	case op == opDiscovery && s.with.Has(switches.DiscoveryMissing):
		return fhirRefusal(http.StatusNotFound, "not-found", "Not found."), true
	case op == opDiscovery && s.with.Has(switches.DiscoveryHTML):
		return htmlRefusal(http.StatusOK), true
	case op == opRevoke && s.with.Has(switches.RevokeFails):
		return failedEndpoint(s.with.Text(switches.RevokeFails)), true
	case op == opIntrospect && s.with.Has(switches.IntrospectFails):
		return failedEndpoint(s.with.Text(switches.IntrospectFails)), true
	default:
		return refusal{}, false
	}
}

// failedEndpoint returns the response of a revocation or introspection endpoint that fails in the way that how
// specifies.
func failedEndpoint(how string) refusal {
	if how == "html" {
		return htmlRefusal(http.StatusOK)
	}
	status, err := strconv.Atoi(how)
	if err != nil {
		status = http.StatusInternalServerError
	}
	code := "server_error"
	if status == http.StatusUnauthorized {
		code = "invalid_client"
	}

	return refusal{status: status, contentType: jsonType, body: `{"error":"` + code + `"}`}
}

// failedRefresh returns the response to a refresh request that fails in the way that how specifies.
func failedRefresh(how string) refusal {
	problem := func(status int, code string) refusal {
		return refusal{
			status: status, contentType: jsonType,
			body: `{"error":"` + code + `","error_description":"the sandbox is configured to reject every refresh"}`,
		}
	}
	switch how {
	case "401":
		return problem(http.StatusUnauthorized, "invalid_grant")
	case "403":
		return problem(http.StatusForbidden, "invalid_grant")
	case "invalid_client":
		return problem(http.StatusUnauthorized, how)
	case "html":
		return refusal{status: http.StatusOK, contentType: htmlType, body: htmlPage}
	case "html-503":
		return refusal{status: http.StatusServiceUnavailable, contentType: htmlType, body: htmlPage}
	case "500":
		return problem(http.StatusInternalServerError, "server_error")
	case "429":
		limited := problem(http.StatusTooManyRequests, "slow_down")
		limited.header = map[string]string{"Retry-After": "7"}

		return limited
	case "no-token":
		return refusal{status: http.StatusOK, contentType: jsonType, body: `{"token_type":"Bearer","expires_in":3600}`}
	default:
		return problem(http.StatusBadRequest, how)
	}
}
