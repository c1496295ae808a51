// Package platform owns what differs between EHR platforms, as data: one YAML file per platform, embedded and checked
// against a schema, with where each statement comes from and what nobody could check without an account. It decides
// nothing; whoever speaks to a portal or registers one reads here how.
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

// Profile is one platform. Its ID is the platform_type of catalog records.
type Profile struct {
	ID   string `yaml:"-" json:"platform_type"` // the file's name
	Name string `yaml:"name" json:"name"`

	// Hosts and Software tell a server of this platform from others: host names, "*.example.org" for all below one, and
	// names of software as CapabilityStatements have them, in either case of letters. A host that is named whole is the
	// vendor's own for all its customers (Origins); one below another may be any customer's, and is trusted with nothing.
	Hosts    []string `yaml:"hosts" json:"hosts,omitempty"`
	Software []string `yaml:"software" json:"software,omitempty"`

	Client    Client    `yaml:"client" json:"client"`
	Authorize Authorize `yaml:"authorize" json:"authorize"`
	Tokens    Tokens    `yaml:"tokens" json:"tokens"`
	FHIR      FHIR      `yaml:"fhir" json:"fhir"`
	Sandbox   Sandbox   `yaml:"sandbox" json:"sandbox"`

	Sources    []string `yaml:"sources" json:"sources"`       // what the statements rest on
	Unverified []string `yaml:"unverified" json:"unverified"` // what needs an account to be known
}

// Client is how we are registered and prove who we are (SMART App Launch 2.2, client authentication).
type Client struct {
	// Methods are those that the platform takes, the best first: "private_key_jwt", "client_secret_basic",
	// "client_secret_post", "public".
	Methods    []string `yaml:"methods" json:"methods"`
	Algorithms []string `yaml:"algorithms" json:"algorithms,omitempty"` // of private_key_jwt: RS384, ES384
	// what discovery lists of both stands above them (Listed)
	AsListed bool `yaml:"as_listed" json:"as_listed,omitempty"`
	// how it gets our keys: "url", or "inline" at registration
	JWKS string `yaml:"jwks" json:"jwks,omitempty"`
	// "raw" where it does not form-decode client_secret_basic (RFC 6749 section 2.3.1)
	Basic string `yaml:"basic" json:"basic,omitempty"`
	// RedirectHTTPS says that it registers no http address, not even one of a loopback interface.
	RedirectHTTPS bool   `yaml:"redirect_https" json:"redirect_https,omitempty"`
	Note          string `yaml:"note" json:"note,omitempty"` // for who registers
}

// Authorize is what the authorization request has to look like.
type Authorize struct {
	Aud string `yaml:"aud" json:"aud"` // "base", "trimmed" (without a trailing slash) or "none"
	// "S256", also where it is only ignored; "none" where it is refused
	PKCE     string `yaml:"pkce" json:"pkce"`
	Nonce    bool   `yaml:"nonce" json:"nonce,omitempty"`       // required, also without openid
	Fragment bool   `yaml:"fragment" json:"fragment,omitempty"` // it may answer behind a #
	// to ask for; <access> stands for read or rs, by what it speaks
	Scopes   []string `yaml:"scopes" json:"scopes"`
	Wildcard bool     `yaml:"wildcard" json:"wildcard"`     // patient/*.<access> is granted; else Types are named
	Types    []string `yaml:"types" json:"types,omitempty"` // asked for as patient/Type.<access>
	// Registered says that what may be read is chosen at registration and not asked for.
	Registered bool `yaml:"at_registration" json:"at_registration,omitempty"`
	Refresh    bool `yaml:"refresh_scope" json:"refresh_scope,omitempty"` // a refresh has to repeat the scope
}

// Tokens is how its tokens live.
type Tokens struct {
	// of refresh tokens: "none", "rolling", "one-time", "absent", "unknown"
	Rotation string `yaml:"rotation" json:"rotation"`
	// Patient lists where the patient's id is found, first that answers: "token", "id_token", "access_token", "userinfo",
	// "search".
	Patient []string `yaml:"patient" json:"patient"`
	// how long consent lasts when nobody says; 0 for unknown
	Consent time.Duration `yaml:"consent" json:"consent_ns,omitempty"`
	// "client" authentication, "bearer" token, or none
	Introspection string `yaml:"introspection" json:"introspection,omitempty"`
	Introspect    string `yaml:"introspection_url" json:"introspect_url,omitempty"` // where discovery does not say
	// fields of the answer that placeholders may name; at most 8
	Extra []string `yaml:"extra" json:"extra,omitempty"`
}

// FHIR is how its FHIR server wants to be asked.
type FHIR struct {
	// on every call; {name} in a value is a field of Tokens.Extra
	Query      map[string]string `yaml:"query" json:"query,omitempty"`
	Headers    map[string]string `yaml:"headers" json:"headers,omitempty"` // on every call
	Everything bool              `yaml:"everything" json:"everything,omitempty"`
	NoCount    []string          `yaml:"no_count" json:"no_count,omitempty"` // types that refuse _count
	// parameters without which a type is refused
	Needs map[string][]string `yaml:"needs" json:"needs,omitempty"`
	// queries of a type, instead of the usual one
	Ways map[string][]string `yaml:"ways" json:"ways,omitempty"`
	// a next link works once: resuming starts the query anew
	OnceNext  bool     `yaml:"once_next" json:"once_next,omitempty"`
	PageTotal bool     `yaml:"page_total" json:"page_total,omitempty"` // total counts the page
	Denials   []Denial `yaml:"denials" json:"denials,omitempty"`       // answers that mean: not for you
	// _count to begin with; 0 for the usual 100
	PageSize int `yaml:"page_size" json:"page_size,omitempty"`
	// types found by a list in _id that its statement does not say so of
	ByID []string `yaml:"by_id" json:"by_id,omitempty"`
	Rate Rate     `yaml:"rate" json:"rate"`
}

// Denial is an answer by which the platform says that a type is refused for good.
type Denial struct {
	Status int    `yaml:"status" json:"status"`
	Body   string `yaml:"body" json:"body,omitempty"` // a part of the body; empty for any
}

// Rate is what is known of its limits. Zero values are unknown.
type Rate struct {
	PerSecond int      `yaml:"per_second" json:"per_second,omitempty"`
	InFlight  int      `yaml:"in_flight" json:"in_flight,omitempty"` // requests at once; an export never makes more
	Headers   []string `yaml:"headers" json:"headers,omitempty"`     // that tell what is left
}

// Sandbox is where it can be tried.
type Sandbox struct {
	FHIRBase string `yaml:"fhir_base" json:"fhir_base,omitempty"`
	Scope    string `yaml:"scope" json:"scope,omitempty"` // in addition to Authorize.Scopes
	Note     string `yaml:"note" json:"note,omitempty"`
}

// builtIn holds the profiles, which are part of the binary, so that nobody parses them twice.
//
//nolint:gochecknoglobals // nobody writes to it
var builtIn = sync.OnceValues(func() ([]Profile, error) { return load(files) })

// All returns every profile, sorted by ID. Callers share what the profiles refer to and must not change it. An error is
// a defect of a file and names it.
func All() ([]Profile, error) {
	all, err := builtIn()
	return slices.Clone(all), err
}

// Find reads one profile. Its error lists the ids that there are.
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

// Scope is what to ask for, with access as the platform spells it: "read" (version 1) or "rs" (version 2).
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

// Listed returns the profile as it is where discovery lists these methods and algorithms of client authentication (RFC
// 8414 section 2); it is p where the profile knows better, or nothing is listed. Nobody lists public clients, which
// prove nothing, so they stay.
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

// With returns the profile with what is different at one endpoint: a part of a profile, as its file would have it.
// Lists replace the profile's, maps are added to its. The error is one of the text, or says which rule of the schema
// the whole then breaks.
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
