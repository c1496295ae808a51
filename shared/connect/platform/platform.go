// Package platform owns the differences between EHR platforms, as data: one YAML file per platform, embedded and
// checked against a schema, with the source of each statement and a list of those that cannot be verified without an
// account. It makes no decisions; code that communicates with a portal or registers at one reads its profile here.
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

// Profile describes one platform. Its ID is the platform_type of catalog records.
type Profile struct {
	ID   string `yaml:"-" json:"platform_type"` // the file's name
	Name string `yaml:"name" json:"name"`

	// Hosts and Software distinguish a server of this platform from others. Hosts holds host names, with "*.example.org"
	// for all hosts below one; Software holds names from CapabilityStatements, in any case. A host named in full is the
	// vendor's own for all its customers (Origins). A host matched by a wildcard may belong to any customer and is not
	// trusted.
	Hosts    []string `yaml:"hosts" json:"hosts,omitempty"`
	Software []string `yaml:"software" json:"software,omitempty"`

	Client    Client    `yaml:"client" json:"client"`
	Authorize Authorize `yaml:"authorize" json:"authorize"`
	Tokens    Tokens    `yaml:"tokens" json:"tokens"`
	FHIR      FHIR      `yaml:"fhir" json:"fhir"`
	Sandbox   Sandbox   `yaml:"sandbox" json:"sandbox"`

	Sources    []string `yaml:"sources" json:"sources"`       // of the statements
	Unverified []string `yaml:"unverified" json:"unverified"` // statements that need an account to verify
}

// Client describes how we register and authenticate (SMART App Launch 2.2, client authentication).
type Client struct {
	// Methods lists the accepted methods, best first: "private_key_jwt", "client_secret_basic", "client_secret_post",
	// "public".
	Methods []string `yaml:"methods" json:"methods"`
	// signing algorithms for private_key_jwt: RS384, ES384
	Algorithms []string `yaml:"algorithms" json:"algorithms,omitempty"`
	// discovery's lists of methods and algorithms take precedence (Listed)
	AsListed bool `yaml:"as_listed" json:"as_listed,omitempty"`
	// delivery of our keys: "url", or "inline" at registration
	JWKS string `yaml:"jwks" json:"jwks,omitempty"`
	// "raw" if it does not form-decode client_secret_basic (RFC 6749 section 2.3.1)
	Basic string `yaml:"basic" json:"basic,omitempty"`
	// RedirectHTTPS reports that the platform registers no http URLs, not even for a loopback interface.
	RedirectHTTPS bool   `yaml:"redirect_https" json:"redirect_https,omitempty"`
	Note          string `yaml:"note" json:"note,omitempty"` // for the operator who registers
}

// Authorize describes the platform's authorization request.
type Authorize struct {
	Aud string `yaml:"aud" json:"aud"` // "base", "trimmed" (without a trailing slash) or "none"
	// "S256", even if merely ignored; "none" if refused
	PKCE     string `yaml:"pkce" json:"pkce"`
	Nonce    bool   `yaml:"nonce" json:"nonce,omitempty"`       // required, even without openid
	Fragment bool   `yaml:"fragment" json:"fragment,omitempty"` // the response may use the URL fragment
	// to request; <access> stands for read or rs, depending on the server
	Scopes   []string `yaml:"scopes" json:"scopes"`
	Wildcard bool     `yaml:"wildcard" json:"wildcard"`     // patient/*.<access> is granted; otherwise Types are listed
	Types    []string `yaml:"types" json:"types,omitempty"` // requested as patient/Type.<access>
	// Registered reports that data scopes are chosen at registration and not requested.
	Registered bool `yaml:"at_registration" json:"at_registration,omitempty"`
	Refresh    bool `yaml:"refresh_scope" json:"refresh_scope,omitempty"` // a refresh must repeat the scope
}

// Tokens describes the lifecycle of the platform's tokens.
type Tokens struct {
	// of refresh tokens: "none", "rolling", "one-time", "absent", "unknown"
	Rotation string `yaml:"rotation" json:"rotation"`
	// Patient lists the sources of the patient's id in the order in which they are tried: "token", "id_token",
	// "access_token", "userinfo", "search".
	Patient []string `yaml:"patient" json:"patient"`
	// duration of consent if nothing states it; 0 for unknown
	Consent time.Duration `yaml:"consent" json:"consent_ns,omitempty"`
	// "client" authentication, "bearer" token, or none
	Introspection string `yaml:"introspection" json:"introspection,omitempty"`
	Introspect    string `yaml:"introspection_url" json:"introspect_url,omitempty"` // used if discovery does not state it
	// fields of the token response that placeholders may name; at most 8
	Extra []string `yaml:"extra" json:"extra,omitempty"`
}

// FHIR describes how the platform's FHIR server must be queried.
type FHIR struct {
	// added to every call; {name} in a value is a field of Tokens.Extra
	Query      map[string]string `yaml:"query" json:"query,omitempty"`
	Headers    map[string]string `yaml:"headers" json:"headers,omitempty"` // added to every call
	Everything bool              `yaml:"everything" json:"everything,omitempty"`
	NoCount    []string          `yaml:"no_count" json:"no_count,omitempty"` // types that refuse _count
	// parameters without which searches of a type are refused
	Needs map[string][]string `yaml:"needs" json:"needs,omitempty"`
	// queries for a type, instead of the usual one
	Ways map[string][]string `yaml:"ways" json:"ways,omitempty"`
	// a next link works once: resuming restarts the query
	OnceNext  bool     `yaml:"once_next" json:"once_next,omitempty"`
	PageTotal bool     `yaml:"page_total" json:"page_total,omitempty"` // total counts only the page
	Denials   []Denial `yaml:"denials" json:"denials,omitempty"`       // responses that mean "access denied"
	// initial _count; 0 for the usual 100
	PageSize int `yaml:"page_size" json:"page_size,omitempty"`
	// types searchable by a list in _id although the CapabilityStatement does not say so
	ByID []string `yaml:"by_id" json:"by_id,omitempty"`
	Rate Rate     `yaml:"rate" json:"rate"`
}

// Denial is a response by which the platform refuses a type permanently.
type Denial struct {
	Status int    `yaml:"status" json:"status"`
	Body   string `yaml:"body" json:"body,omitempty"` // text contained in the body; empty for any body
}

// Rate holds the platform's known rate limits. Zero values are unknown.
type Rate struct {
	PerSecond int      `yaml:"per_second" json:"per_second,omitempty"`
	InFlight  int      `yaml:"in_flight" json:"in_flight,omitempty"` // concurrent requests; an export never makes more
	Headers   []string `yaml:"headers" json:"headers,omitempty"`     // that state the remaining quota
}

// Sandbox describes the platform's test environment.
type Sandbox struct {
	FHIRBase string `yaml:"fhir_base" json:"fhir_base,omitempty"`
	Scope    string `yaml:"scope" json:"scope,omitempty"` // in addition to Authorize.Scopes
	Note     string `yaml:"note" json:"note,omitempty"`
}

// builtIn parses the embedded profiles once.
//
//nolint:gochecknoglobals // nobody writes to it
var builtIn = sync.OnceValues(func() ([]Profile, error) { return load(files) })

// All returns every profile, sorted by ID. Callers share the maps and slices of the profiles and must not modify them.
// An error means that a file is defective, and names it.
func All() ([]Profile, error) {
	all, err := builtIn()
	return slices.Clone(all), err
}

// Find returns one profile. Its error lists the known ids.
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

// Scope returns the scope to request, with access as the platform spells it: "read" (version 1) or "rs" (version 2).
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
// 8414 section 2). It returns p unchanged if the profile takes precedence or nothing is listed. No server lists public
// clients, which authenticate with nothing, so they remain.
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

// With returns the profile with the overrides of one endpoint applied. The overrides are a part of a profile, in the
// format of its file. Lists replace the profile's lists; maps are merged. The error describes a malformed text, or the
// schema rule that the merged profile breaks.
func (p Profile) With(overrides string) (Profile, error) {
	if strings.TrimSpace(overrides) == "" {
		return p, nil
	}
	text, err := yaml.Marshal(p) // a copy that shares no map with p
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
