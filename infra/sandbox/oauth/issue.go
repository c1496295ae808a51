package oauth

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"recordbridge/infra/sandbox/scope"
	"recordbridge/infra/sandbox/switches"
)

// tokenAnswer is a successful token response (RFC 6749 §5.1 with the SMART launch context). Only portals with switches
// set the fields after RefreshToken.
type tokenAnswer struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    any    `json:"expires_in,omitempty"` // lifetime in seconds; a string or nil with switches.ExpiresIn
	Scope        string `json:"scope"`
	Patient      string `json:"patient,omitempty"`
	RefreshToken string `json:"refresh_token,omitempty"`

	IDToken                string `json:"id_token,omitempty"`
	Practice               string `json:"ah_practice,omitempty"`
	AuthorizationExpiresIn int64  `json:"authorization_expires_in,omitempty"`
	RefreshTokenTimeout    int64  `json:"refresh_token_timeout,omitempty"`
	RefreshTokenExpiresIn  int64  `json:"refresh_token_expires_in,omitempty"`
	RefreshExpiresIn       int64  `json:"refresh_expires_in,omitempty"`
}

type tokenIssuer struct {
	*profile

	ledger    *ledger
	signer    *signer
	accessTTL time.Duration
}

// issue creates and stores an access token and, if the person granted offline access, a refresh token.
func (i *tokenIssuer) issue(ctx context.Context, grantID string, grant grantRecord,
	scopes []string,
) (tokenAnswer, error) {
	now := i.now()
	lifetime := i.with.Duration(switches.AccessLifetime, i.accessTTL)
	answer := tokenAnswer{
		TokenType: "Bearer", ExpiresIn: i.expiresIn(lifetime), Scope: strings.Join(scopes, " "),
		Patient: i.namedPatient(grant),
	}
	if i.with.Has(switches.Practice) {
		answer.Practice = PracticeID
	}
	access := tokenRecord{GrantID: grantID, Scopes: scopes, IssuedAt: now.Unix(), ExpiresAt: now.Add(lifetime).Unix()}
	var err error
	if answer.AccessToken, err = i.newAccessToken(ctx, grant, access); err != nil {
		return tokenAnswer{}, err
	}
	if err = i.ledger.save(ctx, accessKey(answer.AccessToken), access, access.ExpiresAt); err != nil {
		return tokenAnswer{}, err
	}
	if !scope.Offline(grant.Scopes) || i.with.Has(switches.NoRefresh) {
		return answer, nil
	}
	consentLeft := time.Unix(grant.ExpiresAt, 0).Sub(now)
	renewal := tokenRecord{
		GrantID: grantID, Scopes: grant.Scopes, IssuedAt: now.Unix(),
		ExpiresAt: now.Add(min(consentLeft, i.with.Duration(switches.RefreshLifetime, consentLeft))).Unix(),
	}
	i.tellExpiry(&answer, renewal.ExpiresAt-now.Unix())
	if answer.RefreshToken, err = i.ledger.newSecret(); err != nil {
		return tokenAnswer{}, err
	}

	return answer, i.ledger.save(ctx, refreshKey(answer.RefreshToken), renewal, renewal.ExpiresAt)
}

func (i *tokenIssuer) expiresIn(lifetime time.Duration) any {
	seconds := int64(lifetime.Seconds())
	switch i.with.Text(switches.ExpiresIn) {
	case "missing":
		return nil
	case "text":
		return strconv.FormatInt(seconds, 10)
	default:
		return seconds
	}
}

// namedPatient returns the patient ID for the token response, or "" if the portal names the patient elsewhere or not at
// all.
func (i *tokenIssuer) namedPatient(grant grantRecord) string {
	elsewhere := []string{
		switches.NoPatient, switches.PatientUnnamed, switches.PatientFHIRUser, switches.PatientJWT,
		switches.PatientUserinfo,
	}
	if slices.ContainsFunc(elsewhere, i.with.Has) {
		return ""
	}

	return i.personas[grant.PersonaID].PatientID
}

// tellExpiry sets the response field that gives the refresh token's lifetime in seconds.
func (i *tokenIssuer) tellExpiry(answer *tokenAnswer, seconds int64) {
	switch i.with.Text(switches.TellExpiry) {
	case "authorization_expires_in":
		answer.AuthorizationExpiresIn = seconds
	case "refresh_token_timeout":
		answer.RefreshTokenTimeout = seconds
	case "refresh_token_expires_in":
		answer.RefreshTokenExpiresIn = seconds
	case "refresh_expires_in":
		answer.RefreshExpiresIn = seconds
	}
}

// IssueTo responds to a token request from a client authenticated by package udap, issuing a new access token for a
// person's record. IssueTo never issues a refresh token, even if the client requests one.
func (e *tokenEndpoint) IssueTo(w http.ResponseWriter, r *http.Request, clientID, personaID, requested string) {
	var scopes []string
	for _, one := range e.scopes.grantable(requested) {
		if one != "offline_access" {
			scopes = append(scopes, one)
		}
	}
	if len(scopes) == 0 {
		e.writeError(w, oauthError{"invalid_scope", "none of the requested scopes can be granted"})

		return
	}
	id, err := e.ledger.newSecret()
	if err != nil {
		e.fail(w, r, err)

		return
	}
	grant := grantRecord{
		ClientID: clientID, PersonaID: personaID, Scopes: scopes,
		ExpiresAt: e.now().Add(consentLasts).Unix(), Site: e.site,
	}
	if err = e.ledger.save(r.Context(), grantKey(id), grant, grant.ExpiresAt); err != nil {
		e.fail(w, r, err)

		return
	}
	answer, err := e.tokens.issue(r.Context(), id, grant, scopes)
	if err != nil {
		e.fail(w, r, err)

		return
	}
	e.writeJSON(w, http.StatusOK, answer)
}
