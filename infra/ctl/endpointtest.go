package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/shared/adapters/smart/probe"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
)

// failedTestError reports that a test ran and found a failure. Its findings are printed.
type failedTestError struct {
	checks []probe.Check
	failed int
}

// Error implements error.
func (f *failedTestError) Error() string { return fmt.Sprintf("checks that have failed: %d", f.failed) }

func (f *failedTestError) shown() any { return f.checks }

// testEndpoint tests everything about an endpoint that needs no patient.
func testEndpoint(flags *flag.FlagSet) action {
	owned := ownerFlags(flags)
	id := endpointFlag(flags)
	base := flags.String("fhir-base", "", "or one that is not made yet: its FHIR base `URL`")
	platformType := flags.String("platform", "",
		"of one that is not made yet: its EHR platform `type` (default: found out from the server)")
	var subject probe.Subject
	flags.BoolVar(&subject.TokenRequest, "token-request", false,
		"make two token requests that must fail, to see whether our client is accepted; some health systems count "+
			"failed ones")
	return func(ctx context.Context, s session) (any, error) {
		if (*id == "") == (*base == "") {
			return nil, misused("name one of them: -id for an endpoint that is there, -fhir-base for one that is not made yet")
		}
		if *id != "" && *platformType != "" {
			return nil, misused("-platform goes with -fhir-base; an endpoint that is there has its platform")
		}
		owner, mode, err := owned()
		if err != nil {
			return nil, err
		}
		subject.Tenant = owner
		if subject.Endpoint, subject.Stored, err = findSubject(ctx, s.Operator, *id, *base, mode); err != nil {
			return nil, err
		}
		if *platformType != "" {
			if subject.Stored {
				return nil, fmt.Errorf("there is endpoint %s with this -fhir-base, of platform %s; test it with -id",
					subject.Endpoint.ID, subject.Endpoint.PlatformType)
			}
			if subject.Endpoint.PlatformType, err = platformOf(*platformType); err != nil {
				return nil, err
			}
		}
		return s.test(ctx, subject)
	}
}

// test runs the probe and returns an error with its findings if any of them failed.
func (s session) test(ctx context.Context, subject probe.Subject) (any, error) {
	p, err := wiring.NewProbe(s.stack.Config, s.stack.Outputs, s.stack.Options(actor), s.Operator)
	if err != nil {
		return nil, err
	}
	checks, err := p.Run(ctx, subject)
	if err != nil {
		return nil, err
	}
	failed := len(slices.DeleteFunc(slices.Clone(checks), func(c probe.Check) bool { return c.Result != probe.Failed }))
	if failed > 0 {
		return nil, &failedTestError{checks: checks, failed: failed}
	}
	return checks, nil
}

func platformOf(named string) (string, error) {
	found, err := platform.Find(strings.ToLower(named))
	if err != nil {
		return "", fmt.Errorf("-platform: %w", err)
	}
	return found.ID, nil
}

// findSubject finds the endpoint by id or FHIR base, or builds a provisional one.
func findSubject(
	ctx context.Context, o *wiring.Operator, id, base, mode string,
) (e catalog.Endpoint, stored bool, err error) {
	if id == "" {
		if id, err = operator.EndpointID(mode, base); err != nil { // the test reports what is wrong with the URL
			//nolint:nilerr // see above
			return catalog.Endpoint{FHIRBase: base, Mode: mode, Status: catalog.EndpointActive}, false, nil
		}
	}
	e, err = o.Endpoints.Show(ctx, id)
	switch {
	case errors.Is(err, fault.NotFound) && base != "":
		return catalog.Endpoint{
			ID: id, FHIRBase: base, Mode: mode, FHIRVersion: "4.0.1",
			Status: catalog.EndpointActive,
		}, false, nil
	case err != nil:
		return catalog.Endpoint{}, false, err
	case e.Mode != mode:
		return catalog.Endpoint{}, false, fmt.Errorf("the endpoint is in %s mode: -mode %s", e.Mode, e.Mode)
	}
	return e, true, nil
}
