package main

import (
	"cmp"
	"context"
	"flag"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
)

func registrationCommands() []command {
	const place, owner = "(-endpoint ID | -platform TYPE) -mode test|live", " [-org ID]"
	return []command{
		{
			name: "registration set", help: "Creates a registration, or changes the given settings of a " +
				"registration", declare: setRegistration,
			flags: place + " -client-id ID [-client-auth ID | -public] [-scope SCOPES] [-own-callback]" + owner,
		},
		{name: "registration list", help: "Lists all registrations", declare: listRegistrations},
		{
			name: "registration show", declare: showRegistration,
			flags: place + owner + "\n(-endpoint ID | -fhir-base URL | -platform TYPE) -mode test|live -callback" + owner,
			help: "Shows the registration in use for an endpoint or platform, regardless of owner, or the callback URL to " +
				"register with the health system",
		},
		{
			name: "registration remove", confirms: true, flags: place + owner, declare: removeRegistration,
			help: "Removes the registration with exactly this endpoint or platform and owner",
		},
	}
}

func setRegistration(flags *flag.FlagSet) action {
	_ = flags.String("client-id", "", "our client `id` at the endpoint or platform")
	_ = flags.String("client-auth", "",
		"client authentication `id`, from client create (default: unchanged; a public client for a new registration)")
	var scope mayBeEmpty
	flags.Var(&scope, "scope", "space-separated `scopes` to request; '' for the default from the platform and its "+
		"discovery (default: unchanged)")
	public := flags.Bool("public", false, "make the client public, so that it doesn't authenticate")
	own := flags.Bool("own-callback", false,
		"use a separate callback URL from now on; register the URL with the health system first")
	return forPlace(flags, func(ctx context.Context, s session, owner org.Tenant, place catalog.Place) (any, error) {
		change := operator.Change{
			ClientID: optional(flags, "client-id"), AuthID: optional(flags, "client-auth"), Scope: scope.said,
			OwnCallback: *own,
		}
		if *public {
			if change.AuthID != nil {
				return nil, misused("-public and -client-auth can't be combined")
			}
			change.AuthID = new(string)
		}
		if change == (operator.Change{}) {
			return nil, misused("nothing to set: use -client-id, -client-auth, -public, -scope or -own-callback")
		}
		set, err := s.Registrations.Set(ctx, owner, place, change)
		return registrationShown(set), err
	})
}

func listRegistrations(*flag.FlagSet) action {
	return func(ctx context.Context, s session) (any, error) {
		all, err := s.Registrations.List(ctx)
		rows := make([]map[string]any, 0, len(all))
		for _, r := range all {
			shown := ownerShown(r.Owner)
			delete(shown, "mode") // the registration's scope determines the mode
			shown["place"], shown["client_id"] = placeShown(r.Registration.Place), r.Registration.ClientID
			if r.Registration.AuthID != "" {
				shown["client_auth_id"] = r.Registration.AuthID
			}
			rows = append(rows, shown)
		}
		return rows, err
	}
}

func showRegistration(flags *flag.FlagSet) action {
	callback := flags.Bool("callback", false,
		"show only the callback URL, which a registration doesn't need to exist for")
	base := flags.String("fhir-base", "", "for -callback: FHIR base `URL` of an endpoint that doesn't exist yet")
	return forPlace(flags, func(ctx context.Context, s session, owner org.Tenant, place catalog.Place) (any, error) {
		if *base != "" && !*callback {
			return nil, misused("-fhir-base can be used only with -callback")
		}
		if *callback {
			return s.callback(ctx, owner, place, *base)
		}
		used, err := s.Registrations.InEffect(ctx, owner, place)
		return registrationShown(used), err
	})
}

// callback returns the callback URL that a health system requires before it issues a client ID.
func (s session) callback(ctx context.Context, owner org.Tenant, place catalog.Place, base string) (any, error) {
	if base != "" {
		if place.EndpointID != "" {
			return nil, misused("-fhir-base and -endpoint can't be combined")
		}
		var err error
		if place.EndpointID, err = operator.EndpointID(place.Mode, base); err != nil {
			return nil, err
		}
	}
	address, registered, err := s.Registrations.Callback(ctx, owner, place)
	return map[string]any{"callback": address, "registered": registered}, err
}

func removeRegistration(flags *flag.FlagSet) action {
	return forPlace(flags, func(ctx context.Context, s session, owner org.Tenant, place catalog.Place) (any, error) {
		of := "all organisations"
		if owner.OrgID != "" {
			of = "organisation " + owner.OrgID
		}
		if err := s.confirm("This removes the registration of %s at %s in %s mode at once. Patients then connect under the "+
			"next registration that applies, or not at all.", of, cmp.Or(place.EndpointID, place.PlatformType),
			place.Mode); err != nil {
			return nil, err
		}
		gone, err := s.Registrations.Remove(ctx, owner, place)
		shown := ownerShown(owner)
		delete(shown, "mode") // the registration's scope determines the mode
		shown["place"], shown["client_id"], shown["removed"] = placeShown(gone.Place), gone.ClientID, true
		return shown, err
	})
}

// forPlace returns an action that calls do with a client registration's owner, mode, and endpoint or platform. The
// registration belongs to one organisation or is shared by all organisations.
func forPlace(flags *flag.FlagSet, do func(ctx context.Context, s session, owner org.Tenant, place catalog.Place) (any,
	error),
) action {
	owned := ownerFlags(flags)
	endpoint := flags.String("endpoint", "", "endpoint `id`")
	platformType := flags.String("platform", "",
		"EHR platform `type`, from platform show, for all endpoints of the platform")
	return func(ctx context.Context, s session) (any, error) {
		base := ""
		if f := flags.Lookup("fhir-base"); f != nil {
			base = f.Value.String()
		}
		if *endpoint == "" && *platformType == "" && base == "" {
			return nil, misused("Set either -endpoint or -platform")
		}
		owner, mode, err := owned(ctx, s, func(string) func(org.Mode) (bool, error) {
			if *endpoint != "" || base != "" {
				return s.endpointMode(ctx, *endpoint, base)
			}
			return s.platformMode(ctx, *platformType)
		})
		if err != nil {
			return nil, err
		}
		return do(ctx, s, owner, catalog.Place{EndpointID: *endpoint, Mode: mode, PlatformType: *platformType})
	}
}

// platformMode returns a question for onlyMode: whether the platform has a registration in the mode.
func (s session) platformMode(ctx context.Context, platformType string) func(org.Mode) (bool, error) {
	return func(m org.Mode) (bool, error) {
		all, err := s.Registrations.List(ctx)
		return slices.ContainsFunc(all, func(r catalog.OwnedRegistration) bool {
			at := r.Registration.Place
			return at.EndpointID == "" && at.Mode == string(m) && strings.EqualFold(at.PlatformType, platformType)
		}), err
	}
}

// registrationShown returns a registration's printed form, without secrets.
func registrationShown(r operator.Registered) map[string]any {
	shown := map[string]any{
		"place": placeShown(r.Registration.Place), "of": "everybody", "client_id": r.Registration.ClientID,
		"method": r.Method(), "scope": r.Registration.Scope,
		"callback": r.CallbackAddress,
	}
	if r.Owner != (org.Tenant{}) {
		shown["of"] = r.Owner.OrgID
	}
	if r.Registration.Scope == "" {
		shown["scope"] = "from the platform and its discovery"
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

func placeShown(p catalog.Place) map[string]any {
	if p.EndpointID == "" {
		return map[string]any{"platform_type": p.PlatformType, "mode": p.Mode}
	}
	return map[string]any{"endpoint_id": p.EndpointID}
}
