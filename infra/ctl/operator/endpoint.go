package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/smart/platform"
)

// AddKnownEndpoint is AddEndpoint for an institution of a platform that has a profile, which has to take our client.
func (o *Operator) AddKnownEndpoint(ctx context.Context, e catalog.Endpoint, r catalog.Registration) error {
	profile, err := platform.Find(strings.ToLower(e.PlatformType))
	if err != nil {
		return fault.BadRequest(err.Error())
	}
	if _, err := profile.With(e.Overrides); err != nil {
		return fault.BadRequest(err.Error())
	}
	if r.ClientID != "" {
		if _, err := o.checkMethod(ctx, org.Tenant{}, profile, r.AuthID); err != nil {
			return err
		}
	}
	return o.AddEndpoint(ctx, e, r)
}

// AddEndpoint makes an institution's endpoint connectable for everybody, with how our client is registered there. A zero
// registration stands for that of the platform, which has to exist. Errors are fault.Invalid.
func (o *Operator) AddEndpoint(ctx context.Context, e catalog.Endpoint, r catalog.Registration) error {
	if e.FHIRBase == "" {
		return fault.BadRequest("An endpoint needs a FHIR base URL.")
	}
	if _, ok := org.ParseMode(e.Mode); !ok {
		return fault.BadRequest("The mode of an endpoint is test or live.")
	}
	e.Status, r.Place = catalog.EndpointActive, catalog.Place{EndpointID: e.ID}
	if err := o.registerEndpoint(ctx, e, r); err != nil {
		return err
	}
	if err := o.control.SaveEndpoint(ctx, e); err != nil {
		return fmt.Errorf("create endpoint: %w", err)
	}
	return nil
}

// registerEndpoint stores the endpoint's own registration, or makes sure that its platform has one.
func (o *Operator) registerEndpoint(ctx context.Context, e catalog.Endpoint, r catalog.Registration) error {
	if r.ClientID == "" {
		if r.AuthID != "" || r.Scope != "" {
			return fault.BadRequest("A client authentication and a scope belong to a client id, and none was given.")
		}
		_, err := o.control.RegistrationAt(ctx, org.Tenant{}, catalog.Place{Mode: e.Mode, PlatformType: e.PlatformType})
		if errors.Is(err, fault.NotFound) {
			return fault.BadRequest(fmt.Sprintf("Our client is not registered at platform %q in %s mode yet: give the endpoint a client id, "+
				"or make the platform's registration with registration set first.", e.PlatformType, e.Mode))
		}
		if err != nil {
			return fmt.Errorf("read registration: %w", err)
		}
		return nil
	}
	r, err := checked(r)
	if err != nil {
		return err
	}
	if err := o.control.SaveRegistration(ctx, org.Tenant{}, r); err != nil {
		return fmt.Errorf("create registration: %w", err)
	}
	return nil
}

// OverrideEndpoint says what is different at an endpoint from its platform's profile, in place of what was said before;
// an empty text takes it all back. Errors are fault.Invalid, fault.NotFound and fault.Conflict.
func (o *Operator) OverrideEndpoint(ctx context.Context, id, overrides string) error {
	e, err := o.control.Endpoint(ctx, id)
	if errors.Is(err, fault.NotFound) {
		return fault.Missing(fmt.Sprintf("There is no endpoint %q.", id))
	}
	if err != nil {
		return fmt.Errorf("read endpoint: %w", err)
	}
	profile, err := platform.Find(strings.ToLower(e.PlatformType))
	if err == nil {
		_, err = profile.With(overrides)
	}
	if err != nil {
		return fault.BadRequest(err.Error())
	}
	e.Overrides = overrides
	if err := o.control.SaveEndpoint(ctx, e); err != nil {
		return changed("endpoint", err)
	}
	return nil
}
