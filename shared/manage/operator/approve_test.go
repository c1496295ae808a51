package operator_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog"
	"recordbridge/shared/manage/operator"
)

func TestApproveRequiresEveryChangeToBeListed(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.servers.at(t, base, "", map[string]any{"revocation_endpoint": base + "/revoke"})
	made, err := r.operator.Endpoints.Create(t.Context(), institution(base))
	if err != nil {
		t.Fatal(err)
	}
	id := made.Endpoint.ID
	unmoved, err := r.operator.Endpoints.Approve(t.Context(), id, operator.Approval{})
	if err != nil || len(unmoved) > 0 {
		t.Errorf("where nothing has moved: %v (%v)", unmoved, err)
	}
	moved := elsewhere(login)
	delete(moved, "jwks_uri")
	r.servers.at(t, base, "", moved)
	issuer, another := login+"/i", "https://login.hospital.example/j"
	for _, wanting := range []operator.Approval{
		{},
		{Origins: []string{login}},
		{Origins: []string{login}, Issuer: new("")},
		{Origins: []string{login}, Issuer: &another},
		{Issuer: &issuer},
		{Origins: []string{"https://login.hospital.example.evil.test"}, Issuer: &issuer},
	} {
		_, err = r.operator.Endpoints.Approve(t.Context(), id, wanting)
		says(t, err, "nothing was stored", login)
	}
	kept, err := r.operator.Endpoints.Show(t.Context(), id)
	if err != nil || kept.Pins != made.Endpoint.Pins {
		t.Errorf("the pins are %+v (%v) though nothing was approved", kept.Pins, err)
	}
	changes, err := r.operator.Endpoints.Approve(t.Context(), id,
		operator.Approval{Origins: []string{login}, Issuer: &issuer})
	const origin = "https://fhir.hospital.example"
	want := []catalog.Departure{
		{Role: "issuer", From: base, To: issuer},
		{Role: "authorization", From: origin, To: login},
		{Role: "token", From: origin, To: login},
		{Role: "revocation", From: origin},
	}
	if diff := cmp.Diff(want, changes); err != nil || diff != "" {
		t.Errorf("%v, changes (-want +got):\n%s", err, diff)
	}
	if e, err := r.operator.Endpoints.Show(t.Context(), id); err != nil ||
		e.Pins != (catalog.Pins{Issuer: issuer, Authorization: login, Token: login}) {
		t.Errorf("pinned to %+v (%v)", e.Pins, err)
	}
	rows := []string{
		"registration.set " + id, "endpoint.created " + id, "endpoint.approved " + id + " issuer " + issuer,
		"endpoint.approved " + id + " authorization " + login, "endpoint.approved " + id + " token " + login,
		"endpoint.approved " + id + " revocation ",
	}
	if got := r.audited(); !same(got, rows) {
		t.Errorf("the audit rows are %q, want %q", got, rows)
	}
}

func TestApproveRequiresDroppedIssuerToBeListed(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.servers.at(t, base, "", nil)
	made, err := r.operator.Endpoints.Create(t.Context(), institution(base))
	if err != nil {
		t.Fatal(err)
	}
	r.servers.at(t, base, "", map[string]any{"issuer": ""})
	_, err = r.operator.Endpoints.Approve(t.Context(), made.Endpoint.ID, operator.Approval{Origins: []string{base}})
	says(t, err, `-issuer ""`)
	if _, err = r.operator.Endpoints.Approve(t.Context(), made.Endpoint.ID,
		operator.Approval{Issuer: new("")}); err != nil {
		t.Error(err)
	}
}

func TestApproveRejectsMoveToOwnHost(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.servers.at(t, base, "", nil)
	made, err := r.operator.Endpoints.Create(t.Context(), institution(base))
	if err != nil {
		t.Fatal(err)
	}
	r.servers.at(t, base, "", map[string]any{"authorization_endpoint": us + "/bridge/connect?attempt=1"})
	_, err = r.operator.Endpoints.Approve(t.Context(), made.Endpoint.ID, operator.Approval{Origins: []string{us}})
	says(t, err, "a URL of this service")
}
