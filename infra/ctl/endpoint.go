package main

import (
	"context"
	"flag"

	"recordbridge/shared/catalog"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/ids"
)

func endpointCommands() []command {
	one := []string{"id"}
	return []command{
		{
			name: "endpoint create", help: "Creates an endpoint, so that patients of every organisation can connect " +
				"to an institution",
			needs: []string{"fhir-base", "name", "mode"}, declare: createEndpoint,
			flags: "-fhir-base URL -mode test|live -name NAME [-platform TYPE] [-fhir-version VERSION] [-origin ORIGIN ...] " +
				"[-issuer ISSUER] " +
				"[-client-id ID [-client-auth ID] [-scope SCOPES | -access rs|read]] [-override YAML] [-unpinned] [-again]",
		},
		{name: "endpoint list", flags: "[-mode test|live]", help: "Lists all endpoints", declare: listEndpoints},
		{name: "endpoint show", flags: "-id ID", help: "Shows an endpoint with its pins", needs: one, declare: showEndpoint},
		{
			name: "endpoint set", flags: "-id ID [-name NAME] [-override YAML]", needs: one, declare: changeEndpoint,
			help: "Changes the name that patients see, or the overrides of the platform's profile",
		},
		{
			name: "endpoint approve", flags: "-id ID [-origin ORIGIN ...] [-issuer ISSUER]", needs: one,
			declare: approveEndpoint,
			help:    "Repeats discovery and pins the result if you name every change",
		},
		{
			name: "endpoint test", help: "Tests an endpoint, but not a patient's sign-in", declare: testEndpoint,
			flags: "(-id ID | -fhir-base URL [-platform TYPE]) -mode test|live [-org ID] [-token-request]",
		},
		{
			name: "endpoint disable", confirms: true, flags: "-id ID",
			help: "Blocks new connections to an endpoint; existing connections " +
				"keep working", needs: one,
			declare: disableEndpoint,
		},
		{
			name: "endpoint enable", flags: "-id ID", help: "Allows new connections to an endpoint again", needs: one,
			declare: enableEndpoint,
		},
		{
			name: "endpoint remove", confirms: true, flags: "-id ID", help: "Removes a disabled endpoint without connections",
			needs: one, declare: removeEndpoint,
		},
	}
}

func createEndpoint(flags *flag.FlagSet) action {
	wanted := operator.NewEndpoint{Endpoint: catalog.Endpoint{BrandID: ids.Random(), PortalID: ids.Random()}}
	e, r := &wanted.Endpoint, &wanted.Registration
	flags.StringVar(&e.FHIRBase, "fhir-base", "", "FHIR base `URL`")
	flags.StringVar(&e.Name, "name", "", "institution's `name`")
	flags.StringVar(&e.PlatformType, "platform", "",
		"EHR platform `type`, from platform show (default: detected from the server)")
	flags.StringVar(&e.FHIRVersion, "fhir-version", "4.0.1", "FHIR `version`")
	flags.StringVar(&e.Mode, "mode", "", "`test` or live")
	flags.StringVar(&r.ClientID, "client-id", "", "our client `id` at the endpoint (default: the client ID registered "+
		"for the platform)")
	flags.StringVar(&r.AuthID, "client-auth", "",
		"client authentication `id`, from client create (default: a public client)")
	flags.StringVar(&r.Scope, "scope", "",
		"space-separated `scopes` to request (default: from the platform and its discovery)")
	flags.StringVar(&e.Overrides, "override", "",
		"overrides of the platform's profile, as `YAML`: 'authorize: {aud: none}'")
	flags.StringVar(&wanted.Access, "access", "",
		"instead of -scope: the platform's scopes with read access as `rs` (version 2) or read (version 1)")
	flags.BoolVar(&wanted.Unpinned, "unpinned", false, "create the endpoint even if the server's discovery can't be "+
		"read now")
	flags.BoolVar(&wanted.Again, "again", false, "create a second endpoint with the same FHIR base")
	approved := approvalFlags(flags)
	return func(ctx context.Context, s session) (any, error) {
		wanted.Approved = approved()
		made, err := s.Endpoints.Create(ctx, wanted)
		if err != nil {
			return nil, err
		}
		shown := endpointShown(made.Endpoint)
		shown["platform_because"] = made.Because
		for name, value := range map[string]string{"note": made.Note, "callback": made.Callback} {
			if value != "" {
				shown[name] = value
			}
		}
		return shown, nil
	}
}

// approvalFlags adds the flags that select the parts of a discovery result to approve.
func approvalFlags(flags *flag.FlagSet) func() operator.Approval {
	var origins texts
	flags.Var(&origins, "origin", "the institution's `origin` from discovery; may be repeated")
	var issuer mayBeEmpty
	flags.Var(&issuer, "issuer", "the exact `issuer` from discovery; '' if discovery no longer names an issuer")
	return func() operator.Approval { return operator.Approval{Origins: origins, Issuer: issuer.said} }
}

func endpointShown(e catalog.Endpoint) map[string]any {
	pins := map[string]string{}
	for _, pin := range operator.Pinned(e.Pins) {
		if pin.From != "" {
			pins[pin.Role] = pin.From
		}
	}
	return map[string]any{
		"endpoint_id": e.ID, "brand_id": e.BrandID, "portal_id": e.PortalID, "name": e.Name, "mode": e.Mode,
		"status":    e.Status,
		"fhir_base": e.FHIRBase, "fhir_version": e.FHIRVersion, "platform_type": e.PlatformType, "overrides": e.Overrides,
		"pinned": e.Pins != catalog.Pins{}, "pins": pins,
	}
}

func endpointFlag(flags *flag.FlagSet) *string { return flags.String("id", "", "endpoint `id`") }

func showEndpoint(flags *flag.FlagSet) action {
	id := endpointFlag(flags)
	return func(ctx context.Context, s session) (any, error) {
		e, err := s.Endpoints.Show(ctx, *id)
		return endpointShown(e), err
	}
}

func listEndpoints(flags *flag.FlagSet) action {
	mode := flags.String("mode", "", "only endpoints in this mode, `test` or live (default: both)")
	return func(ctx context.Context, s session) (any, error) {
		if given(flags, "mode") {
			if err := checkMode(*mode); err != nil {
				return nil, err
			}
		}
		all, err := s.Endpoints.List(ctx)
		rows := make([]map[string]any, 0, len(all))
		for _, e := range all {
			if *mode == "" || e.Mode == *mode {
				rows = append(rows, map[string]any{
					"endpoint_id": e.ID, "name": e.Name, "mode": e.Mode, "status": e.Status, "fhir_base": e.FHIRBase,
					"platform_type": e.PlatformType,
					"pinned":        e.Pins != catalog.Pins{},
				})
			}
		}
		return rows, err
	}
}

func changeEndpoint(flags *flag.FlagSet) action {
	id := endpointFlag(flags)
	_ = flags.String("name", "", "institution's `name`")
	var overrides mayBeEmpty
	flags.Var(&overrides, "override",
		"overrides of the platform's profile, as `YAML`; '' removes earlier overrides")
	return func(ctx context.Context, s session) (any, error) {
		change := operator.EndpointChange{Name: optional(flags, "name"), Overrides: overrides.said}
		if change == (operator.EndpointChange{}) {
			return nil, misused("nothing to change: set -name or -override")
		}
		e, err := s.Endpoints.Change(ctx, *id, change)
		return endpointShown(e), err
	}
}

func approveEndpoint(flags *flag.FlagSet) action {
	id := endpointFlag(flags)
	approved := approvalFlags(flags)
	return func(ctx context.Context, s session) (any, error) {
		changes, err := s.Endpoints.Approve(ctx, *id, approved())
		if err != nil {
			return nil, err
		}
		changed := make([]map[string]string, 0, len(changes))
		for _, change := range changes {
			changed = append(changed, map[string]string{"role": change.Role, "from": change.From, "to": change.To})
		}
		return map[string]any{"endpoint_id": *id, "changed": changed}, nil
	}
}

// confirmEndpoint asks about a change to an endpoint. The question's verbs receive the endpoint's ID, name, mode and
// FHIR base.
func (s session) confirmEndpoint(ctx context.Context, id, question string) error {
	e, err := s.Endpoints.Show(ctx, id)
	if err != nil {
		return err
	}
	return s.confirm(question, e.ID, e.Name, e.Mode, e.FHIRBase)
}

func disableEndpoint(flags *flag.FlagSet) action {
	id := endpointFlag(flags)
	return func(ctx context.Context, s session) (any, error) {
		if err := s.confirmEndpoint(ctx, *id,
			"This blocks new connections to endpoint %s (%q, %s mode, %s) at once."); err !=
			nil {
			return nil, err
		}
		return map[string]any{"endpoint_id": *id, "status": catalog.EndpointSuspended}, s.Endpoints.Disable(ctx, *id)
	}
}

func enableEndpoint(flags *flag.FlagSet) action {
	id := endpointFlag(flags)
	return func(ctx context.Context, s session) (any, error) {
		return map[string]any{"endpoint_id": *id, "status": catalog.EndpointActive}, s.Endpoints.Enable(ctx, *id)
	}
}

func removeEndpoint(flags *flag.FlagSet) action {
	id := endpointFlag(flags)
	return func(ctx context.Context, s session) (any, error) {
		if err := s.confirmEndpoint(ctx, *id, "This permanently removes endpoint %s (%q, %s mode, %s)."); err != nil {
			return nil, err
		}
		return map[string]any{"endpoint_id": *id, "removed": true}, s.Endpoints.Remove(ctx, *id)
	}
}
