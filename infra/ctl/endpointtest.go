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
	"recordbridge/shared/words/org"
)

// failedTestError reports the findings of a failed endpoint test.
type failedTestError struct {
	checks []probe.Check
	failed int
}

// Error implements error.
func (f *failedTestError) Error() string { return fmt.Sprintf("failed checks: %d", f.failed) }

func (f *failedTestError) shown() any { return f.checks }

// testEndpoint runs every endpoint test that does not require a patient.
func testEndpoint(flags *flag.FlagSet) action {
	owned := ownerFlags(flags)
	id := endpointFlag(flags)
	base := flags.String("fhir-base", "", "FHIR base `URL`, for an endpoint that doesn't exist yet")
	platformType := flags.String("platform", "",
		"EHR platform `type`, for an endpoint that doesn't exist yet (default: detected from the server)")
	var subject probe.Subject
	flags.BoolVar(&subject.TokenRequest, "token-request", false,
		"make two token requests that must fail, to check whether our client is accepted; some health systems count "+
			"failures")
	return func(ctx context.Context, s session) (any, error) {
		if (*id == "") == (*base == "") {
			return nil, misused("set -id for an existing endpoint, or -fhir-base for a new endpoint")
		}
		if *id != "" && *platformType != "" {
			return nil, misused("-platform can be used only with -fhir-base; an existing endpoint already has a platform")
		}
		owner, mode, err := owned(ctx, s, func(string) func(org.Mode) (bool, error) {
			return s.endpointMode(ctx, *id, *base)
		})
		if err != nil {
			return nil, err
		}
		subject.Tenant = owner
		if subject.Endpoint, subject.Stored, err = findSubject(ctx, s.Operator, *id, *base, mode); err != nil {
			return nil, err
		}
		if *platformType != "" {
			if subject.Stored {
				return nil, fmt.Errorf("endpoint %s already has this -fhir-base, on platform %s; test that endpoint with -id",
					subject.Endpoint.ID, subject.Endpoint.PlatformType)
			}
			if subject.Endpoint.PlatformType, err = platformOf(*platformType); err != nil {
				return nil, err
			}
		}
		return s.test(ctx, subject)
	}
}

// test probes subject. If a check fails, test returns an error that contains the findings.
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

// findSubject looks up the endpoint by ID or FHIR base URL. If the endpoint has not been stored yet, findSubject
// returns a provisional one.
func findSubject(
	ctx context.Context, o *wiring.Operator, id, base, mode string,
) (e catalog.Endpoint, stored bool, err error) {
	if id == "" {
		if id, err = operator.EndpointID(mode, base); err != nil { // the test itself reports an invalid URL
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
		return catalog.Endpoint{}, false, fmt.Errorf("the endpoint is in %s mode: use -mode %s", e.Mode, e.Mode)
	}
	return e, true, nil
}
