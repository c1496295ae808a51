// Package sandbox implements a synthetic patient portal (SMART on FHIR, FHIR R4) with invented personas. In test mode
// only, the Lambda function for ANY /sandbox/{proxy+} (functions/sandboxehr) serves the portal. Local stacks (make run)
// and tests also use package sandbox.
//
// The sandbox performs its own authorization, as a production portal does: OAuth with PKCE in package oauth, and bearer
// tokens in package fhirserver. Responses never use the service's error envelope, because the sandbox simulates an
// external server. The sandbox is called by the patient's browser (authorize), the callback function (token),
// exportworker and refreshworker (FHIR, refresh), and deleteconnection (revoke).
//
// Package sandbox determines the operation for a path and applies HTTP-level faults. A FHIR base URL with switches in
// its path, such as /sandbox/with/outcome-entry,access:5s/fhir, is a separate portal with these faults. Package
// switches defines the switches, and GET /sandbox/with lists them. Package persona provides the patients' records.
// Package identity simulates the identity provider for TEFCA mode, which is separate from the portal.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"recordbridge/infra/sandbox/fhirserver"
	"recordbridge/infra/sandbox/identity"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/sandbox/udap"
	"recordbridge/shared/tefca/people"
)

// DefaultClientID is the ID of the public client that the sandbox registers for the service.
const DefaultClientID = "recordbridge-sandbox"

var (
	errBaseURL  = errors.New("BaseURL must be an absolute URL without query, fragment or trailing slash")
	errMissing  = errors.New("a dependency is missing")
	errClient   = errors.New("each client needs a unique ID and at least one redirect URI")
	errLifetime = errors.New("AccessTokenTTL and CodeTTL must be at least a second")
	errPersona  = errors.New("personas need unique IDs")
)

// Deps holds the sandbox's dependencies. All fields except Identities are required.
type Deps struct {
	// BaseURL is the public URL of the mount point, such as http://127.0.0.1:4566/v1/sandbox. The FHIR base is BaseURL
	// + "/fhir", and every absolute link starts with BaseURL.
	BaseURL  string
	Personas []persona.Persona
	Clients  []oauth.Client
	Store    oauth.Store
	Now      func() time.Time
	// Random is the source of randomness for codes and tokens. Random must be safe for concurrent use, like
	// crypto/rand.Reader.
	Random                  io.Reader
	AccessTokenTTL, CodeTTL time.Duration
	Logger                  *slog.Logger
	// Identities provides the keys of the identity providers that the portal trusts (package udap). If Identities is
	// nil, the portal trusts only the sandbox's simulated identity provider.
	Identities udap.Issuers
}

// New returns the sandbox's handler. The handler accepts paths with or without the stage. If BaseURL is
// http://127.0.0.1:4566/v1/sandbox, both /v1/sandbox/fhir/metadata and /sandbox/fhir/metadata return the
// CapabilityStatement.
func New(d Deps) (http.Handler, error) {
	base, err := d.check()
	if err != nil {
		return nil, err
	}
	patients := unlisted()
	all := slices.Concat(d.Personas, patients)
	portal := oauth.New(oauth.Config{
		Issuer: d.BaseURL, FHIRBase: d.BaseURL + "/fhir", Personas: d.Personas, Unlisted: patients, Clients: d.Clients,
		Store: d.Store,
		Now:   d.Now, Random: d.Random, AccessTokenTTL: d.AccessTokenTTL, CodeTTL: d.CodeTTL, Logger: d.Logger,
	})
	records := fhirserver.New(fhirserver.Config{
		BaseURL: d.BaseURL + "/fhir", Security: fhirserver.SecurityURLs(portal.Endpoints()), Personas: all,
		Authorize: authorizer(portal), Logger: d.Logger,
	})
	provider := identity.New(identity.Config{
		Issuer: d.BaseURL + people.Issuer, Clients: d.Clients, Store: d.Store, SigningKey: portal.SigningKey, Now: d.Now,
		Random:  d.Random,
		CodeTTL: d.CodeTTL, Logger: d.Logger,
	})
	identities := d.Identities
	if identities == nil {
		identities = provider
	}

	return &handler{mount: base.Path, provider: provider, site: site{
		base: d.BaseURL, portal: portal, records: records,
		network: udap.New(udap.Config{
			Base: d.BaseURL, Portal: portal, Issuers: identities, Personas: all, Store: d.Store, Now: d.Now, Random: d.Random,
			Logger: d.Logger,
		}),
		portalState: portalState{store: d.Store, now: d.Now, random: d.Random}, log: d.Logger,
	}}, nil
}

// unlisted returns the patients for TEFCA mode, whom the sign-in page does not list. As a network facility, the portal
// holds the patients' records, but the patients can't sign in there.
func unlisted() []persona.Persona {
	all := people.All()
	known := make([]persona.Persona, 0, len(all))
	for _, one := range all {
		who := one.Person
		known = append(known, persona.Of("tefca-"+one.Subject, who.Given, who.Family, who.Sex, who.BirthDate))
	}

	return known
}

func authorizer(portal *oauth.Server) fhirserver.Authorizer {
	return func(ctx context.Context, token string) (fhirserver.Access, error) {
		access, err := portal.Access(ctx, token)
		if errors.Is(err, oauth.ErrInvalidToken) {
			return fhirserver.Access{}, fhirserver.ErrNoAccess
		}

		return fhirserver.Access(access), err
	}
}

func (d Deps) check() (*url.URL, error) {
	base, err := url.Parse(d.BaseURL)
	if err != nil || base.Scheme == "" || base.Host == "" || base.RawQuery != "" || base.Fragment != "" ||
		strings.HasSuffix(d.BaseURL, "/") {
		return nil, errBaseURL
	}
	if d.Store == nil || d.Now == nil || d.Random == nil || d.Logger == nil || len(d.Personas) == 0 ||
		len(d.Clients) == 0 {
		return nil, errMissing
	}
	if d.AccessTokenTTL < time.Second || d.CodeTTL < time.Second {
		return nil, errLifetime
	}
	clients := map[string]bool{"": true}
	for _, c := range d.Clients {
		if clients[c.ID] || len(c.RedirectURIs) == 0 {
			return nil, fmt.Errorf("client %q: %w", c.ID, errClient)
		}
		clients[c.ID] = true
	}
	people := map[string]bool{"": true}
	for _, p := range d.Personas {
		if people[p.ID] {
			return nil, fmt.Errorf("persona %q: %w", p.ID, errPersona)
		}
		people[p.ID] = true
	}

	return base, nil
}
