// Package sendcode serves POST /bridge/email/codes?public_id= (docs/openapi.yaml), which emails a six-digit code to the
// address that a patient has entered. The service's pages call this endpoint. The response is identical for all email
// addresses. Every request sends another code, subject to rate limits.
package sendcode

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/timestamp"
)

// Route is the endpoint's path.
const Route = "/bridge/email/codes"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API           *httpapi.API
	Auth          httpapi.PublicAuth
	Organisations Organisations
	Codes         Sender
}

// Organisations looks up organisations by public ID; org.Directory implements it.
type Organisations interface {
	Organisation(ctx context.Context, publicID string) (org.Organisation, error)
}

// Sender sends codes; verification.Sender implements it.
type Sender interface {
	Send(ctx context.Context, r verification.Request) (verification.Sent, error)
}

type request struct {
	PublicID string `query:"public_id"`
	Network  string `client:"network"`
	Email    string `json:"email" required:"true"`
	Language string `json:"lang"`
}

// response is the JSON body of the endpoint's response. Times are in RFC 3339 format.
type response struct {
	VerificationID string `json:"verification_id"`
	ExpiresAt      string `json:"expires_at"`
	ResendAfter    string `json:"resend_after"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodPost: httpapi.Browser(d.Auth, d.post)})
}

func (d Deps) post(ctx context.Context, caller org.Caller, in request) (response, error) {
	asking, err := d.Organisations.Organisation(ctx, in.PublicID)
	if err != nil {
		return response{}, err
	}
	shown := ""
	if asking.LiveAccess == org.LiveGranted {
		shown = asking.Name
	}
	sent, err := d.Codes.Send(ctx, verification.Request{
		Tenant: caller.Tenant, Organisation: shown, From: maillimit.From{Account: "", Organisation: asking.MailSender()},
		Email: in.Email, Language: in.Language, Network: in.Network,
	})
	if err != nil {
		return response{}, err
	}
	return response{
		VerificationID: sent.ID, ExpiresAt: timestamp.Of(sent.ExpiresAt), ResendAfter: timestamp.Of(sent.ResendAfter),
	}, nil
}
