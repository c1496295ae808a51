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

// Endpoints makes and changes the institutions that patients connect to.
type Endpoints struct {
	rows        EndpointRows
	connections EndpointConnections
	servers     Servers
	baseURL     string
	by          Journal
}

// EndpointReader reads institutions' endpoints.
type EndpointReader interface {
	// Endpoint reads an endpoint; fault.NotFound.
	Endpoint(ctx context.Context, id string) (catalog.Endpoint, error)
}

// EndpointConnections reports whether patients are connected to an endpoint.
type EndpointConnections interface {
	// HasConnectionsAt reports whether a tenant has, or ever had, a connection to an endpoint. It reads the tenant's
	// connections one by one.
	HasConnectionsAt(ctx context.Context, tenant org.Tenant, endpointID string) (bool, error)
}

// EndpointRows keeps endpoints and the registrations that are made together with them.
type EndpointRows interface {
	EndpointReader
	TenantLister
	RegistrationLister
	ClientReader
	// RegistrationAt reads the registration at exactly this place and of exactly this owner; fault.NotFound.
	RegistrationAt(ctx context.Context, owner org.Tenant, place catalog.Place) (catalog.Registration, error)
	// SaveRegistration stores the first one at its place with r.Rev 0, else over that revision; fault.Conflict.
	SaveRegistration(ctx context.Context, owner org.Tenant, r catalog.Registration) error
	// Endpoints lists the ids of all endpoints.
	Endpoints(ctx context.Context) ([]string, error)
	// SaveEndpoint stores a new one with e.Rev 0, else over that revision; fault.Conflict.
	SaveEndpoint(ctx context.Context, e catalog.Endpoint) error
	// RemoveEndpoint removes one as it was read; fault.Conflict.
	RemoveEndpoint(ctx context.Context, e catalog.Endpoint) error
}

// NewEndpoint describes an institution that patients will connect to.
type NewEndpoint struct {
	Endpoint     catalog.Endpoint // ID, Status and Pins are chosen here, and PlatformType when it is empty
	Registration catalog.Registration
	Access       string   // in place of Registration.Scope: the platform's scopes, with reading spelt "rs" or "read"
	Approved     Approval // what of its discovery is neither at the FHIR base nor the vendor's own, and right all the same
	Unpinned     bool     // go on though its server does not answer
	Again        bool     // go on though there is an endpoint with this FHIR base
}

// MadeEndpoint is an endpoint that patients can connect to, and how it came to be what it is.
type MadeEndpoint struct {
	Endpoint catalog.Endpoint
	Because  string // why it is of its platform
	Note     string // what to look at; empty for nothing
	Callback string // the address to register at the health system; empty where its platform's registration is used
}

// EndpointID is the id of the endpoint with a FHIR base in a mode, so that it can be told before there is one, and one
// address does not become two endpoints by mistake. The error is that of a malformed base.
func EndpointID(mode, base string) (string, error) {
	parsed, err := fhir.ParseBase(base)
	if err != nil {
		return "",
			fault.BadRequest(
				"The FHIR base URL is not valid. A valid one looks like https://fhir.hospital.example/r4.").About("fhir-base")
	}
	return ids.Derive("endpoint", mode, parsed.String()), nil
}

// NewEndpoints makes an Endpoints for the service at baseURL.
func NewEndpoints(
	rows EndpointRows, connections EndpointConnections, servers Servers, baseURL string, by Journal,
) Endpoints {
	return Endpoints{rows: rows, connections: connections, servers: servers, baseURL: baseURL, by: by}
}

// Create makes an institution's endpoint connectable for everybody, with how our client is registered there, or with a
// zero registration under that of its platform, which has to exist. It reads the server's discovery, pins what it says,
// and tells its platform by it (docs/operate/health-systems.md). Errors are fault.Invalid; fault.Conflict for a FHIR
// base that has an endpoint; fault.Upstream and fault.Unavailable for a server that does not answer as it should.
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
		return MadeEndpoint{}, fmt.Errorf("%w\nThe server's discovery is needed, so that nobody is ever sent elsewhere "+
			"unseen. With -unpinned the endpoint "+
			"is made all the same, and only what is at the origin of its FHIR base is trusted, until endpoint approve has "+
			"seen more", err)
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
		made.Note = strings.TrimSpace("Its server was not asked, so none of its addresses is pinned. " + note)
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

// Add stores an endpoint, and its registration unless it is zero, as they are: nothing is asked, checked or
// pinned. It is for what is known in every detail, such as the sandbox; institutions are made by CreateEndpoint.
func (o Endpoints) Add(ctx context.Context, e catalog.Endpoint, r catalog.Registration) error {
	_, err := o.add(ctx, e, r)
	return err
}

// Show reads an endpoint; fault.NotFound.
func (o Endpoints) Show(ctx context.Context, id string) (catalog.Endpoint, error) {
	return findEndpoint(ctx, o.rows, id)
}

// List lists all endpoints.
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

// checkNew refuses what can be told to be wrong without asking anybody.
func (o Endpoints) checkNew(wanted NewEndpoint) error {
	e := wanted.Endpoint
	if _, ok := org.ParseMode(e.Mode); !ok {
		return fault.BadRequest("The mode of an endpoint must be test or live.").About("mode")
	}
	if e.FHIRVersion != "" && !strings.HasPrefix(e.FHIRVersion, "4.0.") {
		return fault.BadRequest("The FHIR version must be one of R4, such as 4.0.1.").About("fhir-version")
	}
	if err := wanted.Approved.check(); err != nil {
		return err
	}
	if err := checkName(e.Name); err != nil {
		return err
	}
	return CheckBase(o.baseURL, e.FHIRBase, e.Mode)
}

// newID refuses a second endpoint with the same FHIR base, unless that is meant.
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
			"There is already an endpoint with this FHIR base in %s mode: %s. With -again there will be a second one.", e.Mode,
			id)).About("fhir-base")
}

// pinsOf pins what a server says, when all of it is at the FHIR base's origin, the vendor's own, or named by the
// operator. Without a survey there is nothing to pin.
func (o Endpoints) pinsOf(e catalog.Endpoint, profile platform.Profile, seen Survey,
	approved Approval,
) (catalog.Pins, error) {
	if err := o.checkForeign(e, seen.Addresses); err != nil {
		return catalog.Pins{}, err
	}
	if unnamed := approved.unnamed(seen.Addresses.Abroad(e.FHIRBase, profile.Origins(e.FHIRBase))); len(unnamed) > 0 {
		return catalog.Pins{}, unapproved(unnamed)
	}
	return catalog.PinsOf(seen.Addresses), nil
}

// withAccess writes the platform's scopes into a registration, where the operator has said how they are spelt.
func withAccess(profile platform.Profile, r catalog.Registration, access string) (catalog.Registration, error) {
	switch {
	case access == "":
		return r, nil
	case (access != "rs" && access != "read") || r.Scope != "":
		return r, fault.BadRequest("The access must be rs or read, and cannot go together with scopes.").About("access")
	}
	r.Scope = profile.Scope(access)
	return r, nil
}

// usable checks what a new endpoint is connected to with: its own registration, which it returns as it is to be stored,
// or where r names no client, its platform's.
func (o Endpoints) usable(ctx context.Context, e catalog.Endpoint, r catalog.Registration,
	profile platform.Profile,
) (catalog.Registration, error) {
	if r.ClientID == "" {
		if r.AuthID != "" || r.Scope != "" {
			return r, fault.BadRequest("-client-auth, -scope and -access belong to a client id: -client-id.")
		}
		shared, err := o.rows.RegistrationAt(ctx, org.Tenant{}, catalog.Place{Mode: e.Mode, PlatformType: e.PlatformType})
		if errors.Is(err, fault.NotFound) {
			return r, fault.BadRequest(fmt.Sprintf("Our client is not registered at platform %q in %s mode yet: give the "+
				"endpoint a client id, "+
				"or make the platform's registration with registration set first.", e.PlatformType, e.Mode)).About("client-id")
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
		before, err := o.rows.RegistrationAt(ctx, org.Tenant{}, r.Place) // of a creation that broke off here
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

// findEndpoint reads an endpoint that a caller has named; fault.NotFound.
func findEndpoint(ctx context.Context, rows EndpointReader, id string) (catalog.Endpoint, error) {
	e, err := rows.Endpoint(ctx, id)
	if errors.Is(err, fault.NotFound) {
		return catalog.Endpoint{}, fault.Missing(fmt.Sprintf("There is no endpoint %q.", id)).About("endpoint")
	}
	if err != nil {
		return catalog.Endpoint{}, fmt.Errorf("read endpoint: %w", err)
	}
	return e, nil
}

// profileOf is how an endpoint is spoken to: its platform's profile, with what its discovery lists where the profile
// leaves that open, and its own overrides above both. A server that does not answer now lists nothing.
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
