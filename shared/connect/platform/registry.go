package platform

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/flow"
)

// Generic is the platform type of a server that is none of a known vendor: a standard SMART server, which
// is taken at its own word.
const Generic = "smart"

// Registry holds the profiles by platform type, in either case of letters. It implements flow.Platforms.
type Registry struct {
	profiles map[string]Profile
	sorted   []Profile // by id, so that the same server is always found to be the same
}

// NewRegistry reads every profile. Errors are those of All, and a Generic one that is missing.
func NewRegistry() (Registry, error) {
	all, err := All()
	if err != nil {
		return Registry{}, err
	}
	profiles := make(map[string]Profile, len(all))
	for _, p := range all {
		profiles[p.ID] = p
	}
	if _, found := profiles[Generic]; !found {
		return Registry{}, errors.New("unknown platform profile " + Generic)
	}
	sorted := slices.SortedFunc(maps.Values(profiles), func(x, y Profile) int { return strings.Compare(x.ID, y.ID) })
	return Registry{profiles: profiles, sorted: sorted}, nil
}

// Of is the profile of an endpoint's platform, or the Generic one where that is not known, without the endpoint's own
// overrides.
func (r Registry) Of(endpoint catalog.Endpoint) Profile {
	if profile, known := r.profiles[strings.ToLower(endpoint.PlatformType)]; known {
		return profile
	}
	return r.profiles[Generic]
}

// Profile implements flow.Platforms. Where a platform grants a wildcard, discovery has the last word on it: a server
// of that platform may list its types one by one. So it has on where introspection is, and on PKCE: what a server
// says that it checks is sent, also where the profile knows the platform to refuse it. The endpoint's own overrides
// stand above the profile.
func (r Registry) Profile(endpoint catalog.Endpoint, authority flow.Authority) (flow.Profile, error) {
	upstream := flow.Upstream{Revocation: authority.Revocation, Introspection: authority.Introspection}
	profile, err := r.Of(endpoint).With(endpoint.Overrides)
	if err != nil {
		return flow.Profile{}, err
	}
	upstream.Introspection = cmp.Or(upstream.Introspection, profile.Tokens.Introspect)
	upstream.IntrospectBearer = profile.Tokens.Introspection == "bearer"
	upstream.Consent = profile.Tokens.Consent
	common := flow.Profile{
		Nonce: profile.Authorize.Nonce, RepeatScope: profile.Authorize.Refresh, RawBasic: profile.Client.Basic == "raw",
		NoChallenge: profile.Authorize.PKCE == "none" && !authority.S256,
		Scope:       profile.Scope(authority.Access), Extra: profile.fields(), Upstream: upstream,
		Known: profile.Origins(endpoint.FHIRBase),
	}
	if wildcard := "patient/*." + authority.Access; profile.Authorize.Wildcard {
		scopes := strings.Fields(common.Scope)
		if i := slices.Index(scopes, wildcard); i >= 0 {
			scopes[i] = authority.Scope
		}
		common.Scope = strings.Join(scopes, " ")
		common.Listed = authority.Scope != wildcard
	}
	switch profile.Authorize.Aud {
	case "base":
		common.Aud = endpoint.FHIRBase
	case "trimmed":
		common.Aud = strings.TrimRight(endpoint.FHIRBase, "/")
	}
	return common, nil
}
