package source_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// slowPortal is a portal that takes two seconds to refresh a token and two seconds to return its CapabilityStatement.
type slowPortal struct {
	slowServer

	token error
}

func (*slowPortal) Endpoint(context.Context, string) (catalog.Endpoint, error) {
	return catalog.Endpoint{FHIRBase: "https://ehr.example"}, nil
}

func (o *slowPortal) Current(context.Context, org.Tenant, string) (tokens.Usable, error) {
	<-time.After(2 * time.Second)
	return tokens.Usable{Set: tokens.Set{FHIRBase: "https://ehr.example"}}, o.token
}

func (o *slowPortal) Open(string, plan.Profile, func(context.Context) (secret.Text, error)) (source.Server, error) {
	return o, nil
}

func (*slowPortal) Metadata(ctx context.Context) (fhir.Response, error) {
	select {
	case <-time.After(2 * time.Second):
		return fhir.Response{Body: []byte(`{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1"}`)}, nil
	case <-ctx.Done():
		return fhir.Response{}, &fhir.RequestError{Class: fhir.Network}
	}
}

func (o *slowPortal) open(ctx context.Context) (*source.Session, bool) {
	session, stop, err := source.Opener{
		Tokens: o, Portals: o, Profiles: source.Profiles{Connections: directory{}, Endpoints: o, Platforms: directory{}},
		Now: time.Now,
	}.Open(ctx, org.Tenant{}, "c", time.Time{}, true)
	return session, err == nil && !stop.Stops()
}

func TestSessionReadsCapabilityStatementDuringTokenRefresh(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		session, ok := (&slowPortal{}).open(t.Context())
		if !ok {
			t.Fatal("no session")
		}
		session.Statement(t.Context(), 0) // no effect, because Open has already sent the request
		capability, answer, err := session.Capability(t.Context())
		if err != nil || answer.Failed != nil || capability.FHIRVersion != "4.0.1" {
			t.Errorf("%+v, %+v, %v", capability, answer.Failed, err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("both took %v, want the time of one", took)
		}
	})
}

func TestOpenCancelsStatementRequestWhenTokenIsUnavailable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		if _, ok := (&slowPortal{token: tokens.ErrNothingToRenew}).open(t.Context()); ok {
			t.Error("a session without a token")
		}
	})
}
