package main

import (
	"context"
	"errors"
	"flag"

	"recordbridge/shared/catalog"
	"recordbridge/shared/ids"
	"recordbridge/shared/operator"
	"recordbridge/shared/org"
	"recordbridge/shared/smart/platform"
)

func createEndpoint(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("endpoint create", flag.ContinueOnError)
	wanted := operator.NewEndpoint{Endpoint: catalog.Endpoint{BrandID: ids.Random(), PortalID: ids.Random()}}
	e, r := &wanted.Endpoint, &wanted.Registration
	flags.StringVar(&e.FHIRBase, "fhir-base", "", "FHIR base URL")
	flags.StringVar(&e.Name, "name", "", "institution's name")
	flags.StringVar(&e.PlatformType, "platform", "", "EHR platform type, as platform list shows them (default: found out from the server)")
	flags.StringVar(&e.FHIRVersion, "fhir-version", "4.0.1", "FHIR version")
	flags.StringVar(&e.Mode, "mode", string(org.Test), "test or live")
	flags.StringVar(&r.ClientID, "client-id", "", "our client id there (default: the one registered at the platform)")
	flags.StringVar(&r.AuthID, "client-auth", "", "how the client proves who it is, from client create (default: a public client)")
	flags.StringVar(&r.Scope, "scope", "", "scopes to ask for, separated by spaces (default: as the platform and its discovery say)")
	flags.StringVar(&e.Overrides, "override", "", "what is different there from the platform's profile, as YAML: 'authorize: {aud: none}'")
	flags.StringVar(&wanted.Access, "access", "", "instead of -scope: the platform's scopes with reading spelt rs (version 2) or read (version 1)")
	flags.BoolVar(&wanted.Unpinned, "unpinned", false, "go on even if the server's discovery cannot be read now")
	flags.BoolVar(&wanted.Again, "again", false, "make a second endpoint with the same FHIR base")
	approved := approvalFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	if err := stated(flags, "client-id", "client-auth", "platform"); err != nil {
		return nil, err
	}
	wanted.Approved = approved()
	made, err := o.Endpoints.Create(ctx, wanted)
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

// approvalFlags adds the flags that name what is right of a discovery.
func approvalFlags(flags *flag.FlagSet) func() operator.Approval {
	var origins texts
	flags.Var(&origins, "origin", "an origin that discovery names and that is the institution's; may be repeated")
	issuer := flags.String("issuer", "", "the issuer that discovery names, exactly")
	return func() operator.Approval {
		approved := operator.Approval{Origins: origins}
		if given(flags, "issuer") {
			approved.Issuer = issuer
		}
		return approved
	}
}

// endpointShown is what an operator sees of an endpoint.
func endpointShown(e catalog.Endpoint) map[string]any {
	pins := map[string]string{}
	for _, pin := range operator.Pinned(e.Pins) {
		if pin.From != "" {
			pins[pin.Role] = pin.From
		}
	}
	return map[string]any{
		"endpoint_id": e.ID, "brand_id": e.BrandID, "portal_id": e.PortalID, "name": e.Name, "mode": e.Mode, "status": e.Status,
		"fhir_base": e.FHIRBase, "fhir_version": e.FHIRVersion, "platform_type": e.PlatformType, "overrides": e.Overrides,
		"pinned": e.Pins != catalog.Pins{}, "pins": pins,
	}
}

func showEndpoint(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("endpoint show", flag.ContinueOnError)
	id := flags.String("id", "", "endpoint id")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	if err := needed(flags, "id"); err != nil {
		return nil, err
	}
	e, err := o.Endpoints.Show(ctx, *id)
	return endpointShown(e), err
}

func listEndpoints(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("endpoint list", flag.ContinueOnError)
	mode := flags.String("mode", "", "only those in this mode, test or live (default: both)")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	if _, ok := org.ParseMode(*mode); given(flags, "mode") && !ok {
		return nil, errors.New("-mode must be test or live")
	}
	all, err := o.Endpoints.List(ctx)
	rows := make([]map[string]any, 0, len(all))
	for _, e := range all {
		if *mode == "" || e.Mode == *mode {
			rows = append(rows, map[string]any{
				"endpoint_id": e.ID, "name": e.Name, "mode": e.Mode, "fhir_base": e.FHIRBase, "platform_type": e.PlatformType,
				"pinned": e.Pins != catalog.Pins{},
			})
		}
	}
	return rows, err
}

func approveEndpoint(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("endpoint approve", flag.ContinueOnError)
	id := flags.String("id", "", "endpoint id")
	approved := approvalFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	if err := needed(flags, "id"); err != nil {
		return nil, err
	}
	changes, err := o.Endpoints.Approve(ctx, *id, approved())
	if err != nil {
		return nil, err
	}
	changed := make([]map[string]string, 0, len(changes))
	for _, change := range changes {
		changed = append(changed, map[string]string{"role": change.Role, "from": change.From, "to": change.To})
	}
	return map[string]any{"endpoint_id": *id, "changed": changed}, nil
}

func overrideEndpoint(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("endpoint override", flag.ContinueOnError)
	id := flags.String("endpoint", "", "endpoint id")
	overrides := flags.String("override", "", "what is different there from the platform's profile, as YAML; '' takes back what was said before")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	if err := needed(flags, "endpoint"); err != nil {
		return nil, err
	}
	if !given(flags, "override") {
		return nil, errors.New("-override is missing; -override '' takes back what was said before")
	}
	return map[string]any{"endpoint_id": *id, "overrides": *overrides}, o.Endpoints.Override(ctx, *id, *overrides)
}

func listPlatforms(context.Context, *operator.Operator, []string) (any, error) {
	all, err := platform.All()
	rows := make([]map[string]any, 0, len(all))
	for _, p := range all {
		rows = append(rows, map[string]any{"platform_type": p.ID, "name": p.Name, "client_authentication": p.Client.Methods})
	}
	return rows, err
}

// showPlatform prints all that is known of a platform, for whoever registers us there.
func showPlatform(_ context.Context, _ *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("platform show", flag.ContinueOnError)
	id := flags.String("platform", "", "EHR platform type")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	return platform.Find(*id)
}
