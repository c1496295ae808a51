// Package verifyemail serves POST /bridge/email/verification?public_id= (docs/openapi.yaml). The service's page submits
// the code that a patient has received. The response contains a token that proves ownership of the email address. Each
// code can be used only once.
package verifyemail

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/timestamp"
)

// Route is the endpoint's path.
const Route = "/bridge/email/verification"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API   *httpapi.API
	Auth  httpapi.PublicAuth
	Codes Checker
}

// Checker verifies codes; verification.Checker implements it.
type Checker interface {
	Check(ctx context.Context, tenant org.Tenant, id, digits string) (verification.Verified, error)
}

type request struct {
	VerificationID string `json:"verification_id" required:"true"`
	Code           string `json:"code" required:"true"`
}

type response struct {
	EmailToken string `json:"email_token"`
	ExpiresAt  string `json:"expires_at"` // RFC 3339 time
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodPost: httpapi.Browser(d.Auth, d.post)})
}

func (d Deps) post(ctx context.Context, caller org.Caller, in request) (response, error) {
	verified, err := d.Codes.Check(ctx, caller.Tenant, in.VerificationID, in.Code)
	if err != nil {
		return response{}, err
	}
	return response{EmailToken: verified.Token.Reveal(), ExpiresAt: timestamp.Of(verified.ExpiresAt)}, nil
}
