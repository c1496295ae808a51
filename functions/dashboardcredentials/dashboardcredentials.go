// Package dashboardcredentials serves /dashboard/organisations/{orgId}/{mode}/credentials (docs/openapi.yaml). The
// endpoints manage an organisation's key pairs, and the redirect URIs and origins allowed for each key pair. The
// dashboard's pages call these endpoints. Each route declares the role that it requires
// (docs/adr/0036-the-dashboard.md). A private key appears only in the response to the request that created the key.
// Creating a key is not idempotent: each request creates a new key.
package dashboardcredentials

import (
	"context"
	"errors"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/version"
)

// Endpoint paths.
const (
	listRoute = "/dashboard/organisations/{orgId}/{mode}/credentials"
	oneRoute  = "/dashboard/organisations/{orgId}/{mode}/credentials/{publicId}"
	keysRoute = "/dashboard/organisations/{orgId}/{mode}/credentials/{publicId}/keys"
	keyRoute  = "/dashboard/organisations/{orgId}/{mode}/credentials/{publicId}/keys/{keyId}"
)

// Deps holds the endpoints' dependencies.
type Deps struct {
	API         *httpapi.API
	Auth        httpapi.SessionAuth
	Credentials operator.Credentials
}

type nothing struct{}

type one struct {
	PublicID string `path:"publicId"`
}

type made struct {
	Note           string   `json:"note"`
	RedirectURIs   []string `json:"redirect_uris"`
	AllowedOrigins []string `json:"allowed_origins"`
}

type changed struct {
	PublicID       string   `path:"publicId"`
	Note           *string  `json:"note"`
	RedirectURIs   []string `json:"redirect_uris"`
	AllowedOrigins []string `json:"allowed_origins"`
	IfMatch        string   `header:"If-Match"`
}

type oneKey struct {
	PublicID string `path:"publicId"`
	KeyID    string `path:"keyId"`
}

// New returns a handler for the endpoints.
func New(d Deps) http.Handler {
	return d.API.Routes(map[string]httpapi.Methods{
		listRoute: {
			http.MethodGet:  httpapi.Member(d.Auth, account.View, d.list),
			http.MethodPost: httpapi.Member(d.Auth, account.Develop, d.create).Proving(account.CreateKey),
		},
		oneRoute: {
			http.MethodGet:    httpapi.Member(d.Auth, account.View, d.show),
			http.MethodPatch:  httpapi.Member(d.Auth, account.Develop, d.change),
			http.MethodDelete: httpapi.Member(d.Auth, account.Develop, d.remove),
		},
		keysRoute: {http.MethodPost: httpapi.Member(d.Auth, account.Develop, d.addKey).Proving(account.CreateKey)},
		keyRoute:  {http.MethodDelete: httpapi.Member(d.Auth, account.Develop, d.revoke)},
	})
}

// as returns operator.Credentials that act on behalf of a member within the path's tenant. Credentials of other tenants
// are reported as nonexistent.
func (d Deps) as(v httpapi.Visitor) operator.Credentials {
	return d.Credentials.As(account.Actor(v.Account)).Within(v.Tenant)
}

func (d Deps) list(ctx context.Context, v httpapi.Visitor, _ nothing) (credentialList, error) {
	all, err := d.as(v).List(ctx, v.Tenant)
	if err != nil {
		return credentialList{}, err
	}
	uses, err := d.as(v).Uses(ctx, v.Tenant)
	if err != nil {
		return credentialList{}, err
	}
	shown := credentialList{Credentials: make([]credential, 0, len(all))}
	for _, c := range all {
		shown.Credentials = append(shown.Credentials, credentialOf(c, uses))
	}
	return shown, nil
}

func (d Deps) show(ctx context.Context, v httpapi.Visitor, in one) (credential, error) {
	found, err := d.as(v).Show(ctx, in.PublicID)
	return d.shown(ctx, v, found, err)
}

func (d Deps) create(ctx context.Context, v httpapi.Visitor, in made) (newCredential, error) {
	c, private, err := d.as(v).Create(ctx, operator.CredentialDraft{
		Tenant: v.Tenant, Note: in.Note, Redirects: in.RedirectURIs, Origins: in.AllowedOrigins,
	})
	if err != nil && private.Empty() {
		return newCredential{}, err
	}
	return newCredential{Credential: credentialOf(c, nil), KeyID: c.Keys[0].ID, PrivateKey: private.Reveal()}, err
}

func (d Deps) change(ctx context.Context, v httpapi.Visitor, in changed) (credential, error) {
	from, err := version.Parse(in.IfMatch)
	if err != nil {
		return credential{}, err
	}
	c, err := d.as(v).Change(ctx, in.PublicID, operator.CredentialChange{
		Note: in.Note, Redirects: in.RedirectURIs, Origins: in.AllowedOrigins, From: from,
	})
	return d.shown(ctx, v, c, err)
}

func (d Deps) remove(ctx context.Context, v httpapi.Visitor, in one) (httpapi.NoData, error) {
	return httpapi.NoData{}, missing(d.as(v).Remove(ctx, in.PublicID))
}

func (d Deps) addKey(ctx context.Context, v httpapi.Visitor, in one) (newKey, error) {
	k, private, err := d.as(v).AddKey(ctx, in.PublicID)
	if err != nil {
		return newKey{}, missing(err)
	}
	return newKey{KeyID: k.ID, PrivateKey: private.Reveal()}, nil
}

func (d Deps) revoke(ctx context.Context, v httpapi.Visitor, in oneKey) (httpapi.NoData, error) {
	return httpapi.NoData{}, d.as(v).RevokeKey(ctx, in.PublicID, in.KeyID)
}

// shown formats a credential, including the time when its keys were last used. If err is not nil, shown returns err.
func (d Deps) shown(ctx context.Context, v httpapi.Visitor, c org.Credential, err error) (credential, error) {
	if err != nil {
		return credential{}, missing(err)
	}
	uses, err := d.as(v).Uses(ctx, v.Tenant)
	return credentialOf(c, uses), err
}

// missing replaces fault.NotFound with the error that clients receive for a nonexistent credential. Other errors are
// returned unchanged.
func missing(err error) error {
	if errors.Is(err, fault.NotFound) || errors.Is(err, fault.Invalid) && fault.Of(err).Field == "public-id" {
		return fault.Missing("Credential not found.").Because(err)
	}
	return err
}
