package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/smart/platform"
)

// publicMethod is how profiles call a client that has nothing to prove who it is.
const publicMethod = "public"

// Registered is a registration together with what it leads to.
type Registered struct {
	Registration catalog.Registration
	Owner        org.Tenant         // zero: everybody
	Auth         catalog.ClientAuth // zero of a public client
}

// Method is how the client proves who it is, "public" for not at all.
func (r Registered) Method() string {
	if r.Registration.AuthID == "" {
		return publicMethod
	}
	return string(r.Auth.Method)
}

// SetRegistration says how our client is registered at a place, for one organisation or with a zero owner for everybody,
// in place of what was said before for the same owner and place. Place.Mode has to be the endpoint's where an endpoint is
// named. Connections that exist keep the client they were made with. Errors are fault.Invalid, fault.NotFound and
// fault.Conflict.
func (o *Operator) SetRegistration(ctx context.Context, owner org.Tenant, r catalog.Registration) (Registered, error) {
	at, profile, err := o.locate(ctx, owner, r.Place)
	if err != nil {
		return Registered{}, err
	}
	if r, err = checked(r); err != nil {
		return Registered{}, err
	}
	set := Registered{Registration: r, Owner: owner}
	if set.Auth, err = o.checkMethod(ctx, owner, profile, r.AuthID); err != nil {
		return Registered{}, err
	}
	set.Registration.Place = storedPlace(at)
	before, err := o.control.RegistrationAt(ctx, owner, set.Registration.Place)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return Registered{}, fmt.Errorf("read registration: %w", err)
	}
	set.Registration.Rev = before.Rev
	if err := o.control.SaveRegistration(ctx, owner, set.Registration); err != nil {
		return Registered{}, changed("registration", err)
	}
	target := at.ID
	if target == "" {
		target = at.PlatformType
	}
	return set, o.recordOwned(ctx, owner, "registration.set", target)
}

// Registration is what connections of an organisation at a place are made with, whoever's and wherever that registration
// is; with a zero tenant, those of an organisation that has none of its own. Errors are fault.Invalid and fault.NotFound.
func (o *Operator) Registration(ctx context.Context, tenant org.Tenant, place catalog.Place) (Registered, error) {
	at, _, err := o.locate(ctx, tenant, place)
	if err != nil {
		return Registered{}, err
	}
	used := Registered{Owner: tenant}
	used.Registration, err = o.control.Registration(ctx, tenant, at)
	if errors.Is(err, fault.NotFound) {
		return Registered{}, fault.Missing("Our client is not registered there, so nobody can connect. Make it known with registration set.")
	}
	if err != nil {
		return Registered{}, fmt.Errorf("read registration: %w", err)
	}
	// An organisation's own comes before everybody's: when it has one at this place, that is the one.
	_, err = o.control.RegistrationAt(ctx, tenant, used.Registration.Place)
	if errors.Is(err, fault.NotFound) {
		used.Owner = org.Tenant{}
	} else if err != nil {
		return Registered{}, fmt.Errorf("read registration: %w", err)
	}
	if id := used.Registration.AuthID; id != "" {
		if used.Auth, err = o.client(ctx, tenant, id); err != nil {
			return Registered{}, err
		}
	}
	return used, nil
}

// locate finds what a place means to its owner: the endpoint, or for a platform all that its endpoints have in common.
func (o *Operator) locate(ctx context.Context, owner org.Tenant, place catalog.Place) (catalog.Endpoint, platform.Profile, error) {
	if (place.EndpointID == "") == (place.PlatformType == "") {
		return catalog.Endpoint{}, platform.Profile{}, fault.BadRequest("A registration is at an endpoint or at a platform: name one of them.")
	}
	if _, ok := org.ParseMode(place.Mode); !ok {
		return catalog.Endpoint{}, platform.Profile{}, fault.BadRequest("The mode of a registration is test or live.")
	}
	if err := o.checkOwner(ctx, owner); err != nil {
		return catalog.Endpoint{}, platform.Profile{}, err
	}
	at := catalog.Endpoint{Mode: place.Mode, PlatformType: strings.ToLower(place.PlatformType)}
	if place.EndpointID != "" {
		found, err := o.control.Endpoint(ctx, place.EndpointID)
		if errors.Is(err, fault.NotFound) {
			return catalog.Endpoint{}, platform.Profile{}, fault.Missing(fmt.Sprintf("There is no endpoint %q.", place.EndpointID))
		}
		if err != nil {
			return catalog.Endpoint{}, platform.Profile{}, fmt.Errorf("read endpoint: %w", err)
		}
		if found.Mode != place.Mode {
			return catalog.Endpoint{}, platform.Profile{}, fault.BadRequest(fmt.Sprintf("The endpoint is one of %s mode, not of %s mode.", found.Mode, place.Mode))
		}
		at = found
	}
	profile, err := platform.Find(strings.ToLower(at.PlatformType))
	if err != nil {
		return catalog.Endpoint{}, platform.Profile{}, fault.BadRequest(err.Error())
	}
	return at, profile, nil
}

// storedPlace is where the registration for an endpoint that locate found is kept.
func storedPlace(at catalog.Endpoint) catalog.Place {
	if at.ID != "" {
		return catalog.Place{EndpointID: at.ID}
	}
	return catalog.Place{Mode: at.Mode, PlatformType: at.PlatformType}
}

// checkMethod wants a client authentication that the owner can use and that the platform's profile names; no id stands
// for a public client.
func (o *Operator) checkMethod(ctx context.Context, owner org.Tenant, profile platform.Profile, authID string) (catalog.ClientAuth, error) {
	method, auth := publicMethod, catalog.ClientAuth{}
	if authID != "" {
		var err error
		if auth, err = o.client(ctx, owner, authID); err != nil {
			return catalog.ClientAuth{}, err
		}
		method = string(auth.Method)
	}
	if !slices.Contains(profile.Client.Methods, method) {
		return catalog.ClientAuth{}, fault.BadRequest(fmt.Sprintf("%s does not take %s clients. It takes %s.",
			profile.Name, method, strings.Join(profile.Client.Methods, ", ")))
	}
	if auth.Method == catalog.AuthPrivateKey && !slices.Contains(profile.Client.Algorithms, auth.Algorithm) {
		return catalog.ClientAuth{}, fault.BadRequest(fmt.Sprintf("%s does not take %s. It takes %s.",
			profile.Name, auth.Algorithm, strings.Join(profile.Client.Algorithms, ", ")))
	}
	return auth, nil
}

// client reads a client's authentication as a connection of the tenant would: its own, else everybody's.
func (o *Operator) client(ctx context.Context, tenant org.Tenant, id string) (catalog.ClientAuth, error) {
	found, err := o.control.ClientAuth(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return catalog.ClientAuth{}, fault.Missing(fmt.Sprintf(
			"There is no client authentication %q that %s can use. client create makes one.", id, ownerName(tenant)))
	}
	if err != nil {
		return catalog.ClientAuth{}, fmt.Errorf("read client authentication: %w", err)
	}
	return found, nil
}

// checked refuses a client id and a scope that could not be sent, and puts single spaces between the scope's parts
// (RFC 6749, section 3.3 and appendix A).
func checked(r catalog.Registration) (catalog.Registration, error) {
	if r.ClientID == "" || !visible(r.ClientID) || strings.TrimSpace(r.ClientID) != r.ClientID {
		return catalog.Registration{}, fault.BadRequest("A registration needs the client id that the health system gave out, without spaces around it.")
	}
	if !visible(r.Scope) || strings.ContainsAny(r.Scope, `"\`) {
		return catalog.Registration{}, fault.BadRequest("The scope holds characters that no scope has (RFC 6749, section 3.3).")
	}
	r.Scope = strings.Join(strings.Fields(r.Scope), " ")
	return r, nil
}
