package platform

import (
	"cmp"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/flow"
)

// defaultScopes are asked for where no profile says otherwise: who the patient is, which patient, and a refresh token
// (fhir.md section 1.4).
const defaultScopes = "openid fhirUser launch/patient offline_access"

// Book holds the profiles by platform type, in either case of letters. It implements flow.Platforms.
type Book struct {
	profiles map[string]Profile
}

// NewBook reads every profile. Errors are those of All.
func NewBook() (Book, error) {
	all, err := All()
	if err != nil {
		return Book{}, err
	}
	profiles := make(map[string]Profile, len(all))
	for _, p := range all {
		profiles[p.ID] = p
	}
	return Book{profiles: profiles}, nil
}

// Manners implements flow.Platforms. Where a platform grants a wildcard, discovery has the last word on it: a server of
// that platform may list its types one by one. So it has on where introspection is, and on PKCE: what a server says that
// it checks is sent, also where the profile knows the platform to refuse it. The endpoint's own overrides stand above the
// profile; where there is none, they are not looked at.
func (b Book) Manners(endpoint catalog.Endpoint, authority flow.Authority) (flow.Manners, error) {
	upstream := flow.Upstream{Revocation: authority.Revocation, Introspection: authority.Introspection}
	profile, known := b.profiles[strings.ToLower(endpoint.PlatformType)]
	if !known {
		return flow.Manners{Aud: endpoint.FHIRBase, Scope: defaultScopes + " " + authority.Scope, Upstream: upstream}, nil
	}
	profile, err := profile.With(endpoint.Overrides)
	if err != nil {
		return flow.Manners{}, err
	}
	upstream.Introspection = cmp.Or(upstream.Introspection, profile.Tokens.Introspect)
	upstream.IntrospectBearer = profile.Tokens.Introspection == "bearer"
	upstream.Consent = profile.Tokens.Consent
	manners := flow.Manners{
		Nonce: profile.Authorize.Nonce, RepeatScope: profile.Authorize.Refresh, RawBasic: profile.Client.Basic == "raw",
		NoChallenge: profile.Authorize.PKCE == "none" && !authority.S256,
		Scope:       profile.Scope(authority.Access), Extra: profile.fields(), Upstream: upstream,
	}
	if wildcard := "patient/*." + authority.Access; profile.Authorize.Wildcard {
		scopes := strings.Fields(manners.Scope)
		if i := slices.Index(scopes, wildcard); i >= 0 {
			scopes[i] = authority.Scope
		}
		manners.Scope = strings.Join(scopes, " ")
	}
	switch profile.Authorize.Aud {
	case "base":
		manners.Aud = endpoint.FHIRBase
	case "trimmed":
		manners.Aud = strings.TrimRight(endpoint.FHIRBase, "/")
	}
	return manners, nil
}
