// Package verifyemail serves POST /bridge/email/verification?public_id= (docs/openapi.yaml): a page of ours takes the
// digits that a patient was sent, and gets the token that vouches for the address. A code works once.
package verifyemail

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/timestamp"
)

// Route is the declared path.
const Route = "/bridge/email/verification"

// Deps are what the endpoint works with.
type Deps struct {
	API   *httpapi.API
	Auth  httpapi.PublicAuth
	Codes Checker
}

// Checker takes codes (verification.Checker).
type Checker interface {
	Check(ctx context.Context, tenant org.Tenant, id, digits string) (verification.Verified, error)
}

type request struct {
	VerificationID string `json:"verification_id" required:"true"`
	Code           string `json:"code" required:"true"`
}

type response struct {
	EmailToken string `json:"email_token"`
	ExpiresAt  string `json:"expires_at"` // RFC 3339
}

// New returns the endpoint.
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
