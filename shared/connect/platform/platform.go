// Package platform describes the differences between EHR platforms as data. Each platform has an embedded YAML file,
// which is validated against a schema. The file cites a source for each fact and lists the facts that can't be verified
// without an account. Code that communicates or registers with a portal reads the portal's profile from this package.
package platform

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

//go:embed profiles/*.yaml
var files embed.FS

// Profile describes a platform. A profile's ID is the platform_type in catalogue records.
type Profile struct {
	ID   string `yaml:"-" json:"platform_type"` // the file's base name
	Name string `yaml:"name" json:"name"`

	// Hosts and Software identify servers that run this platform. Hosts contains host names, with "*.example.org" for
	// all hosts below example.org. Software contains names from CapabilityStatements, in any letter case. A host listed
	// by its full name belongs to the vendor and serves all the vendor's customers (Origins). A host matched by a
	// wildcard may belong to any customer and is not trusted.
	Hosts    []string `yaml:"hosts" json:"hosts,omitempty"`
	Software []string `yaml:"software" json:"software,omitempty"`

	Client    Client    `yaml:"client" json:"client"`
	Authorize Authorize `yaml:"authorize" json:"authorize"`
	Tokens    Tokens    `yaml:"tokens" json:"tokens"`
	FHIR      FHIR      `yaml:"fhir" json:"fhir"`
	Sandbox   Sandbox   `yaml:"sandbox" json:"sandbox"`

	Sources    []string `yaml:"sources" json:"sources"`       // sources of the profile's facts
	Unverified []string `yaml:"unverified" json:"unverified"` // facts that can't be verified without an account
}

// Client describes Recordbridge's client registration and authentication (SMART App Launch 2.2, client authentication).
type Client struct {
	// Methods lists the accepted methods, best first: "private_key_jwt", "client_secret_basic", "client_secret_post",
	// "public".
	Methods []string `yaml:"methods" json:"methods"`
	// signing algorithms for private_key_jwt: RS384, ES384
	Algorithms []string `yaml:"algorithms" json:"algorithms,omitempty"`
	// methods and algorithms from discovery take precedence (Listed)
	AsListed bool `yaml:"as_listed" json:"as_listed,omitempty"`
	// means by which the platform obtains Recordbridge's keys: "url", or "inline" at registration
	JWKS string `yaml:"jwks" json:"jwks,omitempty"`
	// "raw" if the platform does not form-decode client_secret_basic (RFC 6749 section 2.3.1)
	Basic string `yaml:"basic" json:"basic,omitempty"`
	// RedirectHTTPS reports whether the platform refuses to register http URLs, including loopback URLs.
	RedirectHTTPS bool   `yaml:"redirect_https" json:"redirect_https,omitempty"`
	Note          string `yaml:"note" json:"note,omitempty"` // note for the operator who registers a client
}

// Authorize describes the authorization requests that the platform expects.
type Authorize struct {
	Aud string `yaml:"aud" json:"aud"` // value of aud: "base", "trimmed" (without a trailing slash) or "none"
	// "S256", even if the platform ignores it; "none" if the platform rejects a challenge
	PKCE     string `yaml:"pkce" json:"pkce"`
	Nonce    bool   `yaml:"nonce" json:"nonce,omitempty"`       // whether a nonce is required, even without openid
	Fragment bool   `yaml:"fragment" json:"fragment,omitempty"` // whether the response may use the URL fragment
	// scopes to request; <access> stands for read or rs, depending on the server
	Scopes []string `yaml:"scopes" json:"scopes"`
	// whether patient/*.<access> is granted; if not, the types in Types are requested
	Wildcard bool     `yaml:"wildcard" json:"wildcard"`
	Types    []string `yaml:"types" json:"types,omitempty"` // resource types requested as patient/Type.<access>
	// Registered reports whether data scopes are selected at registration instead of in the authorization request.
	Registered bool `yaml:"at_registration" json:"at_registration,omitempty"`
	Refresh    bool `yaml:"refresh_scope" json:"refresh_scope,omitempty"` // whether a refresh must repeat the scope
}

// Tokens describes how the platform issues, rotates and revokes tokens.
type Tokens struct {
	// rotation of refresh tokens: "none", "rolling", "one-time", "absent", "unknown"
	Rotation string `yaml:"rotation" json:"rotation"`
	// Patient lists the sources for the patient's ID in the order to try them: "token", "id_token", "access_token",
	// "userinfo", "search".
	Patient []string `yaml:"patient" json:"patient"`
	// duration of consent if the server does not state it; 0 if unknown
	Consent time.Duration `yaml:"consent" json:"consent_ns,omitempty"`
	// introspection authentication: "client", "bearer" token, or none
	Introspection string `yaml:"introspection" json:"introspection,omitempty"`
	// introspection URL if discovery does not provide one
	Introspect string `yaml:"introspection_url" json:"introspect_url,omitempty"`
	// token response fields to which placeholders may refer; at most 8
	Extra []string `yaml:"extra" json:"extra,omitempty"`
}

// FHIR describes how to query the platform's FHIR server.
type FHIR struct {
	// parameters added to every call; {name} in a value is a field of Tokens.Extra
	Query      map[string]string `yaml:"query" json:"query,omitempty"`
	Headers    map[string]string `yaml:"headers" json:"headers,omitempty"` // headers added to every call
	Everything bool              `yaml:"everything" json:"everything,omitempty"`
	NoCount    []string          `yaml:"no_count" json:"no_count,omitempty"` // types whose searches reject _count
	// required search parameters by resource type
	Needs map[string][]string `yaml:"needs" json:"needs,omitempty"`
	// queries that replace the default query, by resource type
	Ways map[string][]string `yaml:"ways" json:"ways,omitempty"`
	// whether next links can be used only once, so a resumed query must restart
	OnceNext  bool     `yaml:"once_next" json:"once_next,omitempty"`
	PageTotal bool     `yaml:"page_total" json:"page_total,omitempty"` // whether Bundle.total counts only one page
	Denials   []Denial `yaml:"denials" json:"denials,omitempty"`       // responses indicating that access is denied
	// initial _count; 0 for the default of 100
	PageSize int `yaml:"page_size" json:"page_size,omitempty"`
	// types searchable by an _id list even if the CapabilityStatement doesn't list the parameter
	ByID []string `yaml:"by_id" json:"by_id,omitempty"`
	Rate Rate     `yaml:"rate" json:"rate"`
}

// Denial describes a response that permanently denies access to a resource type.
type Denial struct {
	Status int    `yaml:"status" json:"status"`
	Body   string `yaml:"body" json:"body,omitempty"` // text contained in the body; empty matches any body
}

// Rate holds the platform's known rate limits. Zero means unknown.
type Rate struct {
	PerSecond int      `yaml:"per_second" json:"per_second,omitempty"`
	InFlight  int      `yaml:"in_flight" json:"in_flight,omitempty"` // maximum number of concurrent requests per export
	Headers   []string `yaml:"headers" json:"headers,omitempty"`     // response headers that state the remaining quota
}

// Sandbox describes the platform's test environment.
type Sandbox struct {
	FHIRBase string `yaml:"fhir_base" json:"fhir_base,omitempty"`
	Scope    string `yaml:"scope" json:"scope,omitempty"` // scopes to request in addition to Authorize.Scopes
	Note     string `yaml:"note" json:"note,omitempty"`
}

// builtIn parses the embedded profiles once.
//
//nolint:gochecknoglobals // nobody writes to it
var builtIn = sync.OnceValues(func() ([]Profile, error) { return load(files) })

// All returns every profile, sorted by ID. Callers share the profiles' maps and slices and must not modify them. If a
// profile file is invalid, the error contains the file's name.
func All() ([]Profile, error) {
	all, err := builtIn()
	return slices.Clone(all), err
}

// Find returns the profile with the given ID. If the ID is unknown, the error lists the known IDs.
func Find(id string) (Profile, error) {
	all, err := All()
	if err != nil {
		return Profile{}, err
	}
	ids := make([]string, 0, len(all))
	for _, p := range all {
		if p.ID == id {
			return p, nil
		}
		ids = append(ids, p.ID)
	}
	return Profile{}, fmt.Errorf("platform %q is not known; there are %s", id, strings.Join(ids, ", "))
}

// Scope returns the scope to request, using access as the suffix for read and search: "read" (version 1) or "rs"
// (version 2).
func (p Profile) Scope(access string) string {
	scopes := slices.Clone(p.Authorize.Scopes)
	if p.Authorize.Wildcard {
		scopes = append(scopes, "patient/*.<access>")
	}
	for _, name := range p.Authorize.Types {
		scopes = append(scopes, "patient/"+name+".<access>")
	}
	return strings.ReplaceAll(strings.Join(scopes, " "), "<access>", access)
}

// Listed returns the profile adjusted to the client authentication methods and algorithms that discovery lists (RFC
// 8414 section 2). It returns p unchanged if the profile takes precedence or the discovered lists are empty. Listed
// retains "public", because servers don't list a method for clients that don't authenticate.
func (p Profile) Listed(methods, algorithms []string) Profile {
	if !p.Client.AsListed || len(methods) == 0 {
		return p
	}
	listed := func(method string) bool { return method == "public" || slices.Contains(methods, method) }
	p.Client.Methods = slices.DeleteFunc(slices.Clone(p.Client.Methods), func(one string) bool { return !listed(one) })
	if len(algorithms) > 0 {
		p.Client.Algorithms = algorithms
	}
	return p
}

// With returns the profile with an endpoint's overrides applied. The overrides are a partial profile in the same file
// format. A list in the overrides replaces the profile's list; a map is merged with the profile's map. The error
// describes either malformed overrides or the schema rule that the merged profile violates.
func (p Profile) With(overrides string) (Profile, error) {
	if strings.TrimSpace(overrides) == "" {
		return p, nil
	}
	text, err := yaml.Marshal(p) // creates a copy that shares no maps with p
	if err != nil {
		return Profile{}, fmt.Errorf("copy platform profile: %w", err)
	}
	own := Profile{ID: p.ID}
	if err := yaml.Unmarshal(text, &own); err != nil {
		return Profile{}, fmt.Errorf("copy platform profile: %w", err)
	}
	decoder := yaml.NewDecoder(strings.NewReader(overrides))
	decoder.KnownFields(true)
	if err := decoder.Decode(&own); err != nil {
		return Profile{}, fmt.Errorf("overrides of platform %s: %w", p.ID, err)
	}
	if err := errors.Join(own.problems()...); err != nil {
		return Profile{}, fmt.Errorf("overrides of platform %s: %w", p.ID, err)
	}
	return own, nil
}

func load(fsys fs.FS) ([]Profile, error) {
	names, err := fs.Glob(fsys, "profiles/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list platform profiles: %w", err)
	}
	all := make([]Profile, 0, len(names))
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read platform profile: %w", err)
		}
		p, err := parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("platform profile %s: %w", name, err)
		}
		p.ID = strings.TrimSuffix(path.Base(name), ".yaml")
		all = append(all, p)
	}
	return all, nil
}

func parse(text string) (Profile, error) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	var p Profile
	if err := decoder.Decode(&p); err != nil {
		return Profile{}, fmt.Errorf("parse: %w", err)
	}
	return p, errors.Join(p.problems()...)
}
