package main

import (
	"context"
	"errors"
	"flag"

	"recordbridge/infra/ctl/operator"
	"recordbridge/shared/catalog"
	"recordbridge/shared/ids"
	"recordbridge/shared/org"
	"recordbridge/shared/smart/platform"
)

func createEndpoint(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("endpoint create", flag.ContinueOnError)
	e := catalog.Endpoint{ID: ids.Random(), BrandID: ids.Random(), PortalID: ids.Random()}
	var r catalog.Registration
	flags.StringVar(&e.FHIRBase, "fhir-base", "", "FHIR base URL")
	flags.StringVar(&e.Name, "name", "", "institution's name")
	flags.StringVar(&e.PlatformType, "platform", "", "EHR platform type, as platform list shows them")
	flags.StringVar(&e.FHIRVersion, "fhir-version", "4.0.1", "FHIR version")
	flags.StringVar(&e.Mode, "mode", string(org.Test), "test or live")
	flags.StringVar(&r.ClientID, "client-id", "", "our client id there (default: as registered at the platform)")
	flags.StringVar(&r.AuthID, "client-auth", "", "how the client proves who it is, from client create (default: a public client)")
	flags.StringVar(&r.Scope, "scope", "", "scopes to ask for, separated by spaces (default: as the platform and its discovery say)")
	flags.StringVar(&e.Overrides, "override", "", "what is different there from the platform's profile, as YAML: 'authorize: {aud: none}'")
	access := flags.String("access", "", "instead of -scope: the platform's scopes with reading spelt rs (version 2) or read (version 1)")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	if err := stated(flags, "client-id", "client-auth"); err != nil {
		return nil, err
	}
	if *access != "" {
		known, err := platform.Find(e.PlatformType)
		if err != nil {
			return nil, err
		}
		if (*access != "rs" && *access != "read") || r.Scope != "" {
			return nil, errors.New("-access is rs or read, and not given together with -scope")
		}
		r.Scope = known.Scope(*access)
	}
	return map[string]any{"endpoint_id": e.ID, "brand_id": e.BrandID, "portal_id": e.PortalID}, o.AddKnownEndpoint(ctx, e, r)
}

func overrideEndpoint(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("endpoint override", flag.ContinueOnError)
	id := flags.String("endpoint", "", "endpoint id")
	overrides := flags.String("override", "", "what is different there from the platform's profile, as YAML; empty for nothing any more")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	return map[string]any{"endpoint_id": *id, "overrides": *overrides}, o.OverrideEndpoint(ctx, *id, *overrides)
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
