package main

import (
	"context"
	"errors"
	"flag"

	"recordbridge/shared/catalog"
	"recordbridge/shared/operator"
	"recordbridge/shared/org"
)

func setRegistration(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("registration set", flag.ContinueOnError)
	placed := placeFlags(flags)
	clientID := flags.String("client-id", "", "our client id there")
	authID := flags.String("client-auth", "", "how the client proves who it is, from client create (default: as it is, at first a public client)")
	scope := flags.String("scope", "", "scopes to ask for, separated by spaces; '' for what the platform and its discovery say (default: as it is)")
	public := flags.Bool("public", false, "make it a public client, which does not prove who it is")
	var change operator.Change
	flags.BoolVar(&change.OwnCallback, "own-callback", false, "use a callback address of its own from now on; the health system must know it already")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	if err := stated(flags, "client-id", "client-auth"); err != nil {
		return nil, err
	}
	if *public && given(flags, "client-auth") {
		return nil, errors.New("-public and -client-auth exclude one another")
	}
	if given(flags, "client-id") {
		change.ClientID = clientID
	}
	if given(flags, "client-auth") || *public {
		change.AuthID = authID
	}
	if given(flags, "scope") {
		change.Scope = scope
	}
	owner, place, err := placed()
	if err != nil {
		return nil, err
	}
	set, err := o.Registrations.Set(ctx, owner, place, change)
	return registrationShown(set), err
}

// showCallback prints the address that a health system wants to know before it gives out a client id.
func showCallback(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("registration callback", flag.ContinueOnError)
	base := flags.String("fhir-base", "", "or at an endpoint that is not made yet: its FHIR base URL")
	placed := placeFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	owner, place, err := placed()
	if err != nil {
		return nil, err
	}
	if *base != "" {
		if place.EndpointID != "" {
			return nil, errors.New("-fhir-base and -endpoint exclude one another")
		}
		if place.EndpointID, err = operator.EndpointID(place.Mode, *base); err != nil {
			return nil, err
		}
	}
	address, registered, err := o.Registrations.Callback(ctx, owner, place)
	return map[string]any{"callback": address, "registered": registered}, err
}

func showRegistration(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("registration show", flag.ContinueOnError)
	placed := placeFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	tenant, place, err := placed()
	if err != nil {
		return nil, err
	}
	used, err := o.Registrations.InEffect(ctx, tenant, place)
	return registrationShown(used), err
}

// placeFlags adds the flags that say where a registration is and whose it is.
func placeFlags(flags *flag.FlagSet) func() (org.Tenant, catalog.Place, error) {
	owned := ownerFlags(flags)
	var place catalog.Place
	flags.StringVar(&place.EndpointID, "endpoint", "", "at one endpoint: its id")
	flags.StringVar(&place.PlatformType, "platform", "", "or at all endpoints of an EHR platform: its type, as platform list shows them")
	return func() (org.Tenant, catalog.Place, error) {
		owner, mode, err := owned()
		place.Mode = mode
		return owner, place, err
	}
}

// registrationShown is what an operator sees of a registration. Nothing of a secret is in it.
func registrationShown(r operator.Registered) map[string]any {
	place := map[string]any{"endpoint_id": r.Registration.Place.EndpointID}
	if r.Registration.Place.EndpointID == "" {
		place = map[string]any{"platform_type": r.Registration.Place.PlatformType, "mode": r.Registration.Place.Mode}
	}
	shown := map[string]any{
		"place": place, "of": "everybody", "client_id": r.Registration.ClientID, "method": r.Method(), "scope": r.Registration.Scope,
		"callback": r.CallbackAddress,
	}
	if r.Owner != (org.Tenant{}) {
		shown["of"] = r.Owner.OrgID
	}
	if r.Registration.Scope == "" {
		shown["scope"] = "as the platform and its discovery say"
	}
	for name, value := range map[string]string{
		"client_auth_id": r.Registration.AuthID, "algorithm": r.Auth.Algorithm, "key_id": r.Auth.KeyID,
	} {
		if value != "" {
			shown[name] = value
		}
	}
	return shown
}
