package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// publicMethod is the authentication method of public clients in platform profiles.
const publicMethod = "public"

// Registrations manages Recordbridge's client registrations.
type Registrations struct {
	rows    RegistrationRows
	servers Servers
	baseURL string
	by      Journal
}

// RegistrationRows stores Recordbridge's client registrations. Each registration is owned by a tenant. Registrations of
// the zero tenant are shared by all tenants.
type RegistrationRows interface {
	OrganisationReader
	EndpointReader
	ClientReader
	RegistrationLister
	// Registration returns the registration for a tenant's connections to an endpoint. It returns fault.NotFound if no
	// registration applies.
	Registration(ctx context.Context, tenant org.Tenant, e catalog.Endpoint) (catalog.Registration, error)
	// RegistrationAt reads the registration with exactly the given owner and place. It returns fault.NotFound if no
	// such registration exists.
	RegistrationAt(ctx context.Context, owner org.Tenant, place catalog.Place) (catalog.Registration, error)
	// SaveRegistration creates the registration if r.Rev is 0; otherwise, it replaces revision r.Rev. It returns
	// fault.Conflict if the stored revision differs.
	SaveRegistration(ctx context.Context, owner org.Tenant, r catalog.Registration) error
	// RemoveRegistration removes a registration. It returns fault.Conflict if the registration has changed since it was
	// read.
	RemoveRegistration(ctx context.Context, owner org.Tenant, r catalog.Registration) error
}

// RegistrationLister lists Recordbridge's client registrations.
type RegistrationLister interface {
	// Registrations returns the registrations of all owners.
	Registrations(ctx context.Context) ([]catalog.OwnedRegistration, error)
}

// ClientReader reads Recordbridge's client credentials.
type ClientReader interface {
	// ClientAuth reads a tenant's own client with the given ID or, if the tenant has none, the shared client. It
	// returns fault.NotFound if neither exists.
	ClientAuth(ctx context.Context, tenant org.Tenant, id string) (catalog.ClientAuth, error)
}

// NewRegistrations returns a Registrations for the service at baseURL.
func NewRegistrations(rows RegistrationRows, servers Servers, baseURL string, by Journal) Registrations {
	return Registrations{rows: rows, servers: servers, baseURL: baseURL, by: by}
}

// Registered holds a registration and its owner, client and callback.
type Registered struct {
	Registration catalog.Registration
	Owner        org.Tenant         // zero if all organisations share the registration
	Auth         catalog.ClientAuth // zero for a public client
	// CallbackAddress is the redirect URI to register with the health system.
	CallbackAddress string
}

// Method returns the client authentication method, or "public" for a client without authentication.
func (r Registered) Method() string {
	if r.Registration.AuthID == "" {
		return publicMethod
	}
	return string(r.Auth.Method)
}

// Change describes a change to a registration. Nil fields leave an existing registration unchanged; in a new
// registration, they are empty.
type Change struct {
	ClientID *string
	AuthID   *string // ID of the client authentication; empty for a public client
	Scope    *string // empty for the default scope from the platform's profile and discovery
	// OwnCallback assigns the registration its own redirect URI. The URI must be registered with the health system.
	OwnCallback bool
}

// Set creates or changes an owner's client registration at place, an endpoint or a platform. If owner is zero, the
// registration applies to all organisations. If place names an endpoint, Place.Mode must be the endpoint's mode.
// Existing connections keep their original client. Set returns fault.Invalid, fault.NotFound or fault.Conflict on
// failure.
func (o Registrations) Set(ctx context.Context, owner org.Tenant, place catalog.Place,
	change Change,
) (Registered, error) {
	at, err := o.locate(ctx, owner, place)
	if err != nil {
		return Registered{}, err
	}
	r, err := o.rows.RegistrationAt(ctx, owner, storedPlace(at))
	if errors.Is(err, fault.NotFound) {
		r, change.OwnCallback = catalog.Registration{Place: storedPlace(at)}, true
	} else if err != nil {
		return Registered{}, fmt.Errorf("read registration: %w", err)
	}
	if r, err = checked(change.of(r)); err != nil {
		return Registered{}, err
	}
	if change.OwnCallback {
		r.Callback = catalog.CallbackOf(ownerKey(owner), r.Place)
	}
	set := Registered{Registration: r, Owner: owner, CallbackAddress: callbackAddress(o.baseURL, r.Callback)}
	profile, err := profileOf(ctx, o.servers, at)
	if err != nil {
		return Registered{}, err
	}
	if set.Auth, err = checkMethod(ctx, o.rows, owner, profile, at, r.AuthID); err != nil {
		return Registered{}, err
	}
	if err := o.rows.SaveRegistration(ctx, owner, r); err != nil {
		return Registered{}, changed("registration", err)
	}
	return set, o.by.record(ctx, owner, "registration.set", cmp.Or(at.ID, at.PlatformType))
}

func (c Change) of(r catalog.Registration) catalog.Registration {
	for to, said := range map[*string]*string{&r.ClientID: c.ClientID, &r.AuthID: c.AuthID, &r.Scope: c.Scope} {
		if said != nil {
			*to = *said
		}
	}
	return r
}

// Callback returns the redirect URI of the registration with exactly the given owner and place. The registration need
// not exist yet, because health systems require the redirect URI before issuing a client ID. The registered result
// reports whether the registration exists. Callback returns fault.Invalid or fault.NotFound on failure.
func (o Registrations) Callback(ctx context.Context, owner org.Tenant,
	place catalog.Place,
) (address string, registered bool, err error) {
	if (place.EndpointID == "") == (place.PlatformType == "") {
		return "", false, errOnePlace()
	}
	if err = checkOwner(ctx, o.rows, owner); err != nil {
		return "", false, err
	}
	if _, ok := ids.ParseUUID(place.EndpointID); place.EndpointID != "" && !ok {
		return "", false, fault.BadRequest("An endpoint's ID must be a UUID.").About("endpoint")
	}
	if _, err = platform.Find(strings.ToLower(place.PlatformType)); place.PlatformType != "" && err != nil {
		return "", false, fault.BadRequest(err.Error()).About("platform")
	}
	stored := storedPlace(catalog.Endpoint{
		ID: place.EndpointID, Mode: place.Mode,
		PlatformType: strings.ToLower(place.PlatformType),
	})
	found, err := o.rows.RegistrationAt(ctx, owner, stored)
	switch {
	case errors.Is(err, fault.NotFound):
		return callbackAddress(o.baseURL, catalog.CallbackOf(ownerKey(owner), stored)), false, nil
	case err != nil:
		return "", false, fmt.Errorf("read registration: %w", err)
	}
	return callbackAddress(o.baseURL, found.Callback), true, nil
}

// callbackAddress returns the redirect URI of a registration, or the shared redirect URI if callback is empty.
func callbackAddress(baseURL, callback string) string {
	address := strings.TrimRight(baseURL, "/") + flow.CallbackPath
	if callback == "" {
		return address
	}
	return address + "/" + callback
}

// InEffect returns the registration that an organisation's connections use at place. The registration may be shared and
// may be for a platform rather than a single endpoint. If the tenant is zero, InEffect returns the registration for
// organisations that have none of their own. It returns fault.Invalid or fault.NotFound on failure.
func (o Registrations) InEffect(ctx context.Context, tenant org.Tenant, place catalog.Place) (Registered, error) {
	at, err := o.locate(ctx, tenant, place)
	if err != nil {
		return Registered{}, err
	}
	used := Registered{Owner: tenant}
	used.Registration, err = o.rows.Registration(ctx, tenant, at)
	if errors.Is(err, fault.NotFound) {
		return Registered{}, fault.Missing("Our client is not registered there, so patients can't connect. Run " +
			"registration set to register it.").About(fieldOf(place))
	}
	if err != nil {
		return Registered{}, fmt.Errorf("read registration: %w", err)
	}
	used.CallbackAddress = callbackAddress(o.baseURL, used.Registration.Callback)
	// An organisation's own registration for the endpoint or platform takes precedence over the shared one.
	_, err = o.rows.RegistrationAt(ctx, tenant, used.Registration.Place)
	if errors.Is(err, fault.NotFound) {
		used.Owner = org.Tenant{}
	} else if err != nil {
		return Registered{}, fmt.Errorf("read registration: %w", err)
	}
	if id := used.Registration.AuthID; id != "" {
		if used.Auth, err = findClient(ctx, o.rows, tenant, id); err != nil {
			return Registered{}, err
		}
	}
	return used, nil
}

// List returns all registrations.
func (o Registrations) List(ctx context.Context) ([]catalog.OwnedRegistration, error) {
	all, err := o.rows.Registrations(ctx)
	if err != nil {
		return nil, fmt.Errorf("list registrations: %w", err)
	}
	return all, nil
}

// Remove removes the registration with exactly the given owner and place, and returns it. New connections then use the
// next applicable registration, if any. Sign-ins in progress and existing connections keep their current client. Remove
// returns fault.Invalid, fault.NotFound or fault.Conflict on failure.
func (o Registrations) Remove(ctx context.Context, owner org.Tenant,
	place catalog.Place,
) (catalog.Registration, error) {
	at, err := o.locate(ctx, owner, place)
	if err != nil {
		return catalog.Registration{}, err
	}
	found, err := o.rows.RegistrationAt(ctx, owner, storedPlace(at))
	if errors.Is(err, fault.NotFound) {
		return catalog.Registration{}, fault.Missing(
			fmt.Sprintf("There is no registration of %s for exactly this endpoint or "+
				"platform.", ownerName(owner))).About(fieldOf(place))
	}
	if err != nil {
		return catalog.Registration{}, fmt.Errorf("read registration: %w", err)
	}
	if err := o.rows.RemoveRegistration(ctx, owner, found); err != nil {
		return catalog.Registration{}, changed("registration", err)
	}
	return found, o.by.record(ctx, owner, "registration.removed", cmp.Or(at.ID, at.PlatformType))
}

func fieldOf(place catalog.Place) string {
	if place.EndpointID != "" {
		return "endpoint"
	}
	return "platform"
}

func errOnePlace() error {
	return fault.BadRequest(
		"A registration is for an endpoint or a platform. Set either -endpoint or -platform.").About("endpoint")
}

// locate validates an owner and a place, and returns the place's endpoint. If the place is a platform, locate returns
// an endpoint with only the properties that all of the platform's endpoints share.
func (o Registrations) locate(ctx context.Context, owner org.Tenant, place catalog.Place) (catalog.Endpoint, error) {
	if (place.EndpointID == "") == (place.PlatformType == "") {
		return catalog.Endpoint{}, errOnePlace()
	}
	if _, ok := org.ParseMode(place.Mode); !ok {
		return catalog.Endpoint{}, fault.BadRequest("A registration's mode must be test or live.").About("mode")
	}
	if err := checkOwner(ctx, o.rows, owner); err != nil {
		return catalog.Endpoint{}, err
	}
	if place.EndpointID == "" {
		profile, err := platform.Find(strings.ToLower(place.PlatformType))
		if err != nil {
			return catalog.Endpoint{}, fault.BadRequest(err.Error()).About("platform")
		}
		return catalog.Endpoint{Mode: place.Mode, PlatformType: profile.ID}, nil
	}
	found, err := findEndpoint(ctx, o.rows, place.EndpointID)
	if err == nil && found.Mode != place.Mode {
		err = fault.BadRequest(fmt.Sprintf("The endpoint is in %s mode, not in %s mode.", found.Mode,
			place.Mode)).About("mode")
	}
	return found, err
}

// storedPlace returns the place under which a registration is stored, given the endpoint that locate returned.
func storedPlace(at catalog.Endpoint) catalog.Place {
	if at.ID != "" {
		return catalog.Place{EndpointID: at.ID}
	}
	return catalog.Place{Mode: at.Mode, PlatformType: at.PlatformType}
}

// checkMethod validates a registration's client authentication. The client must be available to the owner, and profile
// must accept the client's authentication method. If the client has a secret, sending it to the endpoint must be
// permitted. An empty ID denotes a public client.
func checkMethod(
	ctx context.Context, rows ClientReader, owner org.Tenant, profile platform.Profile, at catalog.Endpoint, authID string,
) (catalog.ClientAuth, error) {
	auth := catalog.ClientAuth{}
	if authID != "" {
		var err error
		if auth, err = findClient(ctx, rows, owner, authID); err != nil {
			return catalog.ClientAuth{}, err
		}
	}
	if err := CheckMethod(profile, auth); err != nil {
		return catalog.ClientAuth{}, err
	}
	return auth, CheckSecretOrigins(auth, at)
}

// CheckMethod returns fault.Invalid if a platform's profile does not accept a client's authentication method or signing
// algorithm. A client without an ID is a public client.
func CheckMethod(profile platform.Profile, auth catalog.ClientAuth) error {
	method := publicMethod
	if auth.ID != "" {
		method = string(auth.Method)
	}
	if !slices.Contains(profile.Client.Methods, method) {
		return fault.BadRequest(fmt.Sprintf("%s doesn't accept %s clients. It accepts %s.",
			profile.Name, method, strings.Join(profile.Client.Methods, ", "))).About("client-auth")
	}
	if auth.Method == catalog.AuthPrivateKey && !slices.Contains(profile.Client.Algorithms, auth.Algorithm) {
		return fault.BadRequest(fmt.Sprintf("%s doesn't accept %s. It accepts %s.",
			profile.Name, auth.Algorithm, strings.Join(profile.Client.Algorithms, ", "))).About("client-auth")
	}
	return nil
}

// CheckSecretOrigins returns fault.Invalid if a client's credentials may not be sent to an endpoint because the
// client's allowed origins exclude the token endpoint. The error explains how to allow an origin.
func CheckSecretOrigins(auth catalog.ClientAuth, at catalog.Endpoint) error {
	hasSecret := auth.Method == catalog.AuthSecretBasic || auth.Method == catalog.AuthSecretPost
	if hasSecret && len(auth.Origins) == 0 {
		return fault.BadRequest(fmt.Sprintf("The secret of client %s has no allowed origins, so it is never sent. "+
			"Add them with client set -id %s -origin "+
			"https://the-token-endpoint.example.", auth.ID, auth.ID)).About("client-auth")
	}
	token := at.Pins.Token
	if len(auth.Origins) == 0 || token == "" || slices.Contains(auth.Origins, token) {
		return nil
	}
	return fault.BadRequest(fmt.Sprintf("The endpoint's token endpoint is at %s, but client %s may be sent only to "+
		"%s. To allow it as well, run client set -id %s -origin %s -origin %s.",
		token, auth.ID, strings.Join(auth.Origins, ", "), auth.ID, strings.Join(auth.Origins, " -origin "),
		token)).About("client-auth")
}

func findClient(ctx context.Context, rows ClientReader, tenant org.Tenant, id string) (catalog.ClientAuth, error) {
	found, err := rows.ClientAuth(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return catalog.ClientAuth{}, fault.Missing(fmt.Sprintf(
			"Client authentication %q not found for %s. To create one, run client create.", id,
			ownerName(tenant))).About("client-auth")
	}
	if err != nil {
		return catalog.ClientAuth{}, fmt.Errorf("read client authentication: %w", err)
	}
	return found, nil
}

// checked rejects invalid client IDs and scopes (RFC 6749, section 3.3 and appendix A). It returns the registration
// with scopes separated by single spaces.
func checked(r catalog.Registration) (catalog.Registration, error) {
	if r.ClientID == "" || !visible(r.ClientID) || strings.TrimSpace(r.ClientID) != r.ClientID {
		return catalog.Registration{}, fault.BadRequest(
			"A registration needs the client ID issued by the health system, without surrounding " +
				"spaces.").About("client-id")
	}
	if !visible(r.Scope) || strings.ContainsAny(r.Scope, `"\`) {
		return catalog.Registration{}, fault.BadRequest(
			"The scope contains characters that scopes can't have (RFC 6749, section 3.3).").About("scope")
	}
	r.Scope = strings.Join(strings.Fields(r.Scope), " ")
	return r, nil
}
