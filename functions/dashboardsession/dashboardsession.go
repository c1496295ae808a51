// Package dashboardsession serves /dashboard/session, /dashboard/sessions and /dashboard/account (docs/openapi.yaml).
// The endpoints sign people in to the dashboard, verify second factors and manage accounts. The dashboard's pages call
// these endpoints. Each route declares the role that it requires (docs/adr/0036-the-dashboard.md).
package dashboardsession

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/signin"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Endpoint paths.
//
//nolint:gosec // G101: paths that have "passkey" in their names
const (
	codesRoute          = "/dashboard/session/codes"
	sessionRoute        = "/dashboard/session"
	askPasskeyRoute     = "/dashboard/session/passkey/options"
	passkeyRoute        = "/dashboard/session/passkey"
	totpRoute           = "/dashboard/session/totp"
	recoveryCodeRoute   = "/dashboard/session/recovery-code"
	sessionsRoute       = "/dashboard/sessions"
	generatorRoute      = "/dashboard/account/totp"
	newPasskeyRoute     = "/dashboard/account/passkeys/options"
	passkeysRoute       = "/dashboard/account/passkeys"
	onePasskeyRoute     = "/dashboard/account/passkeys/{passkeyId}"
	recoveryCodesRoute  = "/dashboard/account/recovery-codes"
	addressRoute        = "/dashboard/account/email"
	restoreAddressRoute = "/dashboard/account/email/restore"
)

// Deps holds the endpoints' dependencies.
type Deps struct {
	API           *httpapi.API
	Auth          httpapi.SessionAuth
	Arrivals      httpapi.Limiter // limits requests without a session
	Codes         httpapi.Limiter // limits how often codes are sent by email
	Service       Service
	Organisations Organisations
}

// Service signs people in and manages their accounts; signin.Audited implements it.
type Service interface {
	SendCode(ctx context.Context, email string, b signin.Browser) (verification.Sent, error)
	ByCode(ctx context.Context, b signin.Browser, email, id, digits string) (signin.SignedIn, error)
	AskPasskey(ctx context.Context) (account.Begun, error)
	ByPasskey(ctx context.Context, b signin.Browser, answer []byte) (signin.SignedIn, error)
	ByTOTP(ctx context.Context, b signin.Browser, s account.Session, digits string) (signin.SignedIn, error)
	ByRecoveryCode(ctx context.Context, b signin.Browser, s account.Session, typed string) (signin.SignedIn, error)
	MakeRecoveryCodes(ctx context.Context, s account.Session) ([]secret.Text, error)
	RecoveryCodesLeft(ctx context.Context, a account.Account) (int, error)
	SignOut(ctx context.Context, s account.Session) error
	SignOutEverywhere(ctx context.Context, s account.Session) error
	Account(ctx context.Context, s account.Session) (account.Account, []account.Membership, error)
	OfferTOTP(ctx context.Context, s account.Session) (signin.Offer, error)
	ConfirmTOTP(ctx context.Context, b signin.Browser, s account.Session, digits string) (signin.SignedIn, error)
	RemoveTOTP(ctx context.Context, b signin.Browser, s account.Session) (signin.SignedIn, error)
	RegisterPasskey(ctx context.Context, s account.Session) (account.Begun, error)
	AddPasskey(ctx context.Context, b signin.Browser, s account.Session, name string,
		answer []byte) (signin.SignedIn, error)
	RemovePasskey(ctx context.Context, b signin.Browser, s account.Session, id string) (signin.SignedIn, error)
	RequestAddressChange(ctx context.Context, b signin.Browser, s account.Session, email string) (verification.Sent, error)
	ChangeAddress(ctx context.Context, b signin.Browser, s account.Session, email, id,
		digits string) (signin.SignedIn, error)
	RestoreAddress(ctx context.Context, token secret.Text) error
}

// Organisations reads an account's organisations; store.Organisations implements it. It returns fault.NotFound for
// nonexistent organisations.
type Organisations interface {
	Organisation(ctx context.Context, tenant org.Tenant) (org.Organisation, error)
}

// New returns a handler for the endpoints.
func New(d Deps) http.Handler {
	return d.API.Routes(map[string]httpapi.Methods{
		codesRoute: {http.MethodPost: httpapi.Anyone(d.Codes, d.sendCode)},
		sessionRoute: {
			http.MethodPost:   httpapi.Anyone(d.Arrivals, d.byCode),
			http.MethodGet:    httpapi.Pending(d.Auth, d.show),
			http.MethodDelete: httpapi.Pending(d.Auth, d.signOut),
		},
		askPasskeyRoute:    {http.MethodPost: httpapi.Anyone(d.Arrivals, d.askPasskey)},
		passkeyRoute:       {http.MethodPost: httpapi.Anyone(d.Arrivals, d.byPasskey)},
		totpRoute:          {http.MethodPost: httpapi.Pending(d.Auth, d.byTOTP)},
		recoveryCodeRoute:  {http.MethodPost: httpapi.Pending(d.Auth, d.byRecoveryCode)},
		recoveryCodesRoute: {http.MethodPost: httpapi.Account(d.Auth, d.makeRecoveryCodes).Proving(account.ChangeFactors)},
		sessionsRoute:      {http.MethodDelete: httpapi.Account(d.Auth, d.signOutEverywhere)},
		generatorRoute: {
			http.MethodPost:   httpapi.Account(d.Auth, d.offerTOTP).Proving(account.ChangeFactors),
			http.MethodPut:    httpapi.Account(d.Auth, d.confirmTOTP).Proving(account.ChangeFactors),
			http.MethodDelete: httpapi.Account(d.Auth, d.removeTOTP).Proving(account.ChangeFactors),
		},
		newPasskeyRoute: {http.MethodPost: httpapi.Account(d.Auth, d.registerPasskey).Proving(account.ChangeFactors)},
		passkeysRoute:   {http.MethodPost: httpapi.Account(d.Auth, d.addPasskey).Proving(account.ChangeFactors)},
		onePasskeyRoute: {http.MethodDelete: httpapi.Account(d.Auth, d.removePasskey).Proving(account.ChangeFactors)},
		addressRoute: {
			http.MethodPost: httpapi.Account(d.Auth, d.askAddress).Proving(account.ChangeAddress),
			http.MethodPut:  httpapi.Account(d.Auth, d.changeAddress).Proving(account.ChangeAddress),
		},
		restoreAddressRoute: {http.MethodPost: httpapi.Anyone(d.Arrivals, d.restoreAddress)},
	})
}
