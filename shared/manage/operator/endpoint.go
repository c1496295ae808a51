package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/fhir"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Endpoints creates, changes and removes the FHIR endpoints to which patients connect.
type Endpoints struct {
	rows        EndpointRows
	connections EndpointConnections
	servers     Servers
	baseURL     string
	by          Journal
}

// EndpointReader reads institutions' endpoints.
type EndpointReader interface {
	// Endpoint reads an endpoint. It returns fault.NotFound if the endpoint does not exist.
	Endpoint(ctx context.Context, id string) (catalog.Endpoint, error)
}

// EndpointConnections reports whether any patient has connected to an endpoint.
type EndpointConnections interface {
	// HasConnectionsAt reports whether a tenant has ever had a connection to an endpoint. HasConnectionsAt scans all of
	// the tenant's connections.
	HasConnectionsAt(ctx context.Context, tenant org.Tenant, endpointID string) (bool, error)
}

// EndpointRows stores endpoints and the registrations created with them.
type EndpointRows interface {
	EndpointReader
	TenantLister
	RegistrationLister
	ClientReader
	// RegistrationAt reads the registration with exactly the given owner and place. It returns fault.NotFound if no
	// such registration exists.
	RegistrationAt(ctx context.Context, owner org.Tenant, place catalog.Place) (catalog.Registration, error)
	// SaveRegistration creates the registration if r.Rev is 0; otherwise, it replaces revision r.Rev. It returns
	// fault.Conflict if the stored revision differs.
	SaveRegistration(ctx context.Context, owner org.Tenant, r catalog.Registration) error
	// Endpoints returns the IDs of all endpoints.
	Endpoints(ctx context.Context) ([]string, error)
	// SaveEndpoint creates an endpoint if e.Rev is 0; otherwise, it replaces revision e.Rev. It returns fault.Conflict
	// if the stored revision differs.
	SaveEndpoint(ctx context.Context, e catalog.Endpoint) error
	// RemoveEndpoint removes an endpoint. It returns fault.Conflict if the endpoint has changed since it was read.
	RemoveEndpoint(ctx context.Context, e catalog.Endpoint) error
}

// NewEndpoint describes an endpoint to create for an institution.
type NewEndpoint struct {
	Endpoint     catalog.Endpoint // Create sets ID, Status, Pins and, if it is empty, PlatformType
	Registration catalog.Registration
	Access       string   // "rs" or "read": use these platform scopes instead of Registration.Scope
	Approved     Approval // verified URLs outside the FHIR server's and the vendor's origins
	Unpinned     bool     // create the endpoint even if the server does not respond
	Again        bool     // create another endpoint even if one with this FHIR base URL exists
}

// MadeEndpoint holds a newly created endpoint and the reasons for its settings.
type MadeEndpoint struct {
	Endpoint catalog.Endpoint
	Because  string // reason for choosing the detected platform
	Note     string // warning for the operator; may be empty
	Callback string // URL to register with the health system; empty for the platform's registration
}

// EndpointID returns the ID of a mode's endpoint with the given FHIR base URL. The ID is derived from the mode and the
// URL, so it is known in advance and repeated requests can't create duplicate endpoints. EndpointID returns an error if
// base is malformed.
func EndpointID(mode, base string) (string, error) {
	parsed, err := fhir.ParseBase(base)
	if err != nil {
		return "",
			fault.BadRequest(
				"The FHIR base URL is not valid. Use a URL such as " +
					"https://fhir.hospital.example/r4.").About("fhir-base")
	}
	return ids.Derive("endpoint", mode, parsed.String()), nil
}

// NewEndpoints returns an Endpoints for the service at baseURL.
func NewEndpoints(
	rows EndpointRows, connections EndpointConnections, servers Servers, baseURL string, by Journal,
) Endpoints {
	return Endpoints{rows: rows, connections: connections, servers: servers, baseURL: baseURL, by: by}
}

// Create makes an institution's endpoint available to all organisations. If no registration is given, Create uses the
// platform's registration, which must exist. Create runs discovery on the server, pins the server's URLs, and detects
// its platform (docs/operate/health-systems.md). It returns fault.Invalid, or fault.Conflict if the FHIR base URL
// already has an endpoint. If the server misbehaves, Create returns fault.Upstream or fault.Unavailable.
func (o Endpoints) Create(ctx context.Context, wanted NewEndpoint) (MadeEndpoint, error) {
	e, r := wanted.Endpoint, wanted.Registration
	err := o.checkNew(wanted)
	if err != nil {
		return MadeEndpoint{}, err
	}
	if e.ID, err = o.newID(ctx, e, wanted.Again); err != nil {
		return MadeEndpoint{}, err
	}
	seen, err := look(ctx, o.servers, e.FHIRBase)
	if err != nil && !wanted.Unpinned {
		return MadeEndpoint{}, fmt.Errorf("%w\nDiscovery is required so that patients are only sent to approved "+
			"servers. To create the endpoint without it, use -unpinned; until endpoint approve succeeds, only the "+
			"origin of its FHIR base is trusted", err)
	}
	profile, because, note, err := platformOf(e.FHIRBase, e.PlatformType, seen)
	if err != nil {
		return MadeEndpoint{}, err
	}
	made := MadeEndpoint{Because: because, Note: note}
	e.PlatformType = profile.ID
	if e.Pins, err = o.pinsOf(e, profile, seen, wanted.Approved); err != nil {
		return MadeEndpoint{}, err
	}
	if e.Pins == (catalog.Pins{}) {
		made.Note = strings.TrimSpace("Its discovery was not read, so none of its URLs are pinned. " + note)
	}
	if profile, err = profile.Listed(seen.Methods, seen.Algorithms).With(e.Overrides); err != nil {
		return MadeEndpoint{}, fault.BadRequest(err.Error()).About("override")
	}
	if r, err = withAccess(profile, r, wanted.Access); err != nil {
		return MadeEndpoint{}, err
	}
	if r, err = o.usable(ctx, e, r, profile); err != nil {
		return MadeEndpoint{}, err
	}
	if made.Endpoint, err = o.add(ctx, e, r); err != nil {
		return MadeEndpoint{}, err
	}
	if r.Callback != "" {
		made.Callback = callbackAddress(o.baseURL, r.Callback)
	}
	return made, nil
}

// Add stores an endpoint unchanged, along with its registration if r is not zero. Add sends no requests, performs no
// validation and pins no URLs. Use Add for endpoints whose details are all known, such as those of the sandbox. For
// institutions' endpoints, use Create instead.
func (o Endpoints) Add(ctx context.Context, e catalog.Endpoint, r catalog.Registration) error {
	_, err := o.add(ctx, e, r)
	return err
}

// Show reads an endpoint. It returns fault.NotFound if the endpoint does not exist.
func (o Endpoints) Show(ctx context.Context, id string) (catalog.Endpoint, error) {
	return findEndpoint(ctx, o.rows, id)
}

// List returns all endpoints.
func (o Endpoints) List(ctx context.Context) ([]catalog.Endpoint, error) {
	found, err := o.rows.Endpoints(ctx)
	if err != nil {
		return nil, fmt.Errorf("list endpoints: %w", err)
	}
	listed := make([]catalog.Endpoint, 0, len(found))
	for _, id := range found {
		e, err := o.Show(ctx, id)
		if err != nil {
			return nil, err
		}
		listed = append(listed, e)
	}
	return listed, nil
}

// checkNew rejects input that can be recognised as invalid without sending a request.
func (o Endpoints) checkNew(wanted NewEndpoint) error {
	e := wanted.Endpoint
	if _, ok := org.ParseMode(e.Mode); !ok {
		return fault.BadRequest("An endpoint's mode must be test or live.").About("mode")
	}
	if e.FHIRVersion != "" && !strings.HasPrefix(e.FHIRVersion, "4.0.") {
		return fault.BadRequest("The FHIR version must be an R4 version, such as 4.0.1.").About("fhir-version")
	}
	if err := wanted.Approved.check(); err != nil {
		return err
	}
	if err := checkName(e.Name); err != nil {
		return err
	}
	return CheckBase(o.baseURL, e.FHIRBase, e.Mode)
}

// newID returns the ID of a new endpoint. Unless again is set, it returns an error if the FHIR base URL already has an
// endpoint.
func (o Endpoints) newID(ctx context.Context, e catalog.Endpoint, again bool) (string, error) {
	id, err := EndpointID(e.Mode, e.FHIRBase)
	if err != nil {
		return "", err
	}
	_, err = o.rows.Endpoint(ctx, id)
	switch {
	case errors.Is(err, fault.NotFound):
		return id, nil
	case err != nil:
		return "", fmt.Errorf("read endpoint: %w", err)
	case again:
		return o.by.newID(), nil
	}
	return "", fault.New(fault.Conflict, fault.CodeConflict,
		fmt.Sprintf(
			"This FHIR base already has an endpoint in %s mode: %s. To create a second one, use -again.", e.Mode,
			id)).About("fhir-base")
}

// pinsOf returns the pins for a server's URLs. The operator must approve every URL outside the origins of the FHIR base
// URL and the vendor. If seen is zero, pinsOf returns no pins.
func (o Endpoints) pinsOf(e catalog.Endpoint, profile platform.Profile, seen Survey,
	approved Approval,
) (catalog.Pins, error) {
	if err := o.checkForeign(e, seen.Addresses); err != nil {
		return catalog.Pins{}, err
	}
	if unnamed := approved.unnamed(seen.Addresses.Untrusted(e.FHIRBase, profile.Origins(e.FHIRBase))); len(unnamed) > 0 {
		return catalog.Pins{}, unapproved(unnamed)
	}
	return catalog.PinsOf(seen.Addresses), nil
}

// withAccess sets a registration's scope to the platform's scopes for the access suffix that the operator chose. It
// leaves the scope unchanged if access is empty.
func withAccess(profile platform.Profile, r catalog.Registration, access string) (catalog.Registration, error) {
	switch {
	case access == "":
		return r, nil
	case (access != "rs" && access != "read") || r.Scope != "":
		return r, fault.BadRequest("The access must be rs or read, and can't be combined with scopes.").About("access")
	}
	r.Scope = profile.Scope(access)
	return r, nil
}

// usable validates the registration for a new endpoint. If r names a client, usable returns r as it is to be stored.
// Otherwise, usable validates the platform's registration.
func (o Endpoints) usable(ctx context.Context, e catalog.Endpoint, r catalog.Registration,
	profile platform.Profile,
) (catalog.Registration, error) {
	if r.ClientID == "" {
		if r.AuthID != "" || r.Scope != "" {
			return r, fault.BadRequest("-client-auth, -scope and -access require -client-id.")
		}
		shared, err := o.rows.RegistrationAt(ctx, org.Tenant{}, catalog.Place{Mode: e.Mode, PlatformType: e.PlatformType})
		if errors.Is(err, fault.NotFound) {
			return r, fault.BadRequest(fmt.Sprintf("Our client is not yet registered at platform %q in %s mode. Give "+
				"the endpoint a client ID, or run registration set for the platform "+
				"first.", e.PlatformType, e.Mode)).About("client-id")
		}
		if err != nil {
			return r, fmt.Errorf("read registration: %w", err)
		}
		_, err = checkMethod(ctx, o.rows, org.Tenant{}, profile, e, shared.AuthID)
		return r, err
	}
	r, err := checked(r)
	if err != nil {
		return r, err
	}
	r.Place = catalog.Place{EndpointID: e.ID}
	r.Callback = catalog.CallbackOf(ownerKey(org.Tenant{}), r.Place)
	_, err = checkMethod(ctx, o.rows, org.Tenant{}, profile, e, r.AuthID)
	return r, err
}

func (o Endpoints) add(ctx context.Context, e catalog.Endpoint, r catalog.Registration) (catalog.Endpoint, error) {
	e.Status = catalog.EndpointActive
	if r.ClientID != "" {
		r.Place = catalog.Place{EndpointID: e.ID}
		before, err := o.rows.RegistrationAt(ctx, org.Tenant{}, r.Place) // exists if an earlier call was interrupted
		if err != nil && !errors.Is(err, fault.NotFound) {
			return e, fmt.Errorf("read registration: %w", err)
		}
		r.Rev = before.Rev
		if err := o.rows.SaveRegistration(ctx, org.Tenant{}, r); err != nil {
			return e, changed("registration", err)
		}
		if err := o.by.record(ctx, org.Tenant{}, "registration.set", e.ID); err != nil {
			return e, err
		}
	}
	if err := o.rows.SaveEndpoint(ctx, e); err != nil {
		return e, changed("endpoint", err)
	}
	return e, o.by.record(ctx, org.Tenant{}, "endpoint.created", e.ID)
}

func findEndpoint(ctx context.Context, rows EndpointReader, id string) (catalog.Endpoint, error) {
	e, err := rows.Endpoint(ctx, id)
	if errors.Is(err, fault.NotFound) {
		return catalog.Endpoint{}, fault.Missing(fmt.Sprintf("Endpoint %q not found.", id)).About("endpoint")
	}
	if err != nil {
		return catalog.Endpoint{}, fmt.Errorf("read endpoint: %w", err)
	}
	return e, nil
}

// profileOf returns an endpoint's effective profile. It updates the platform's profile with discovery results, if the
// profile allows that, and then with the endpoint's overrides. If the server does not respond, profileOf omits the
// discovery results.
func profileOf(ctx context.Context, servers Servers, e catalog.Endpoint) (platform.Profile, error) {
	platforms, err := platform.NewRegistry()
	if err != nil {
		return platform.Profile{}, err
	}
	profile := platforms.Of(e)
	if profile.Client.AsListed {
		seen, _ := look(ctx, servers, e.FHIRBase)
		profile = profile.Listed(seen.Methods, seen.Algorithms)
	}
	merged, err := profile.With(e.Overrides)
	if err != nil {
		return platform.Profile{}, fault.BadRequest(err.Error()).About("override")
	}
	return merged, nil
}
