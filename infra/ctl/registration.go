package main

import (
	"context"
	"flag"

	"recordbridge/infra/ctl/operator"
	"recordbridge/shared/catalog"
	"recordbridge/shared/org"
)

func setRegistration(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("registration set", flag.ContinueOnError)
	var r catalog.Registration
	placed := placeFlags(flags)
	flags.StringVar(&r.ClientID, "client-id", "", "our client id there")
	flags.StringVar(&r.AuthID, "client-auth", "", "how the client proves who it is, from client create (default: a public client)")
	flags.StringVar(&r.Scope, "scope", "", "scopes to ask for, separated by spaces (default: as the platform and its discovery say)")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	if err := stated(flags, "client-auth"); err != nil {
		return nil, err
	}
	owner, place, err := placed()
	if err != nil {
		return nil, err
	}
	r.Place = place
	set, err := o.SetRegistration(ctx, owner, r)
	return registrationShown(set), err
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
	used, err := o.Registration(ctx, tenant, place)
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
