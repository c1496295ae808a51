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

// Generic is the platform type of servers whose vendor is unknown. They are treated as standard SMART servers, and
// their metadata is trusted.
const Generic = "smart"

// Registry maps platform types to profiles, ignoring case. Registry implements flow.Platforms.
type Registry struct {
	profiles map[string]Profile
	sorted   []Profile // profiles sorted by ID, so that detection is deterministic
}

// NewRegistry loads every profile. It returns an error if All fails or if the Generic profile is missing.
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

// Of returns the profile for an endpoint's platform, or the Generic profile if the platform is unknown. Of does not
// apply the endpoint's overrides.
func (r Registry) Of(endpoint catalog.Endpoint) Profile {
	if profile, known := r.profiles[strings.ToLower(endpoint.PlatformType)]; known {
		return profile
	}
	return r.profiles[Generic]
}

// Profile implements flow.Platforms. Discovery may override a platform's wildcard, because an individual server may
// list its types one by one. Discovery also determines the introspection URL and whether PKCE is used. If a server
// advertises a code challenge method, the request includes a challenge even if the profile says that the platform
// rejects PKCE. The endpoint's own overrides take precedence over the profile.
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
