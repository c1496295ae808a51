package usage_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

func (f *fixture) connectAt(t *testing.T, of org.Tenant, brand string, count, daysAgo int) {
	t.Helper()
	for range count {
		data := webhook.ConnectionSuccess{ConnectionStatus: "authorized", BrandID: brand}
		f.tell(t, of, f.at.AddDate(0, 0, -daysAgo), webhook.ConnectionSucceeded, data)
	}
}

func (f *fixture) mostUsed(t *testing.T, of org.Tenant) []string {
	t.Helper()
	ids, err := f.days.MostUsed(t.Context(), of)
	expect.NoError(t, err)
	return ids
}

func TestRunRanksBrandsByConnections(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if got := f.mostUsed(t, tenant); len(got) != 0 {
		t.Errorf("before the first run: %q", got)
	}
	f.connectAt(t, tenant, "b", 2, 3)
	f.connectAt(t, tenant, "b", 1, 1)
	f.connectAt(t, tenant, "a", 2, 2)
	f.connectAt(t, tenant, "c", 2, 1)
	f.connectAt(t, tenant, "", 5, 1) // a TEFCA connection
	f.connectAt(t, tenant, "today", 9, 0)
	rejected := webhook.ConnectionSuccess{ConnectionStatus: "rejected", BrandID: "d"}
	for range 4 {
		f.tell(t, tenant, now.AddDate(0, 0, -1), webhook.ConnectionSucceeded, rejected)
	}
	for range 2 { // the second run must not count any event again
		f.run(t)
		if diff := cmp.Diff([]string{"b", "a", "c"}, f.mostUsed(t, tenant)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	f.at = f.at.AddDate(0, 0, 89)
	f.connectAt(t, tenant, "e", 1, 1)
	f.run(t)
	if diff := cmp.Diff([]string{"c", "b", "e"}, f.mostUsed(t, tenant)); diff != "" {
		t.Errorf("89 days later (-want +got):\n%s", diff)
	}
}

// TestRunSeparatesMostUsedBrandsByTenant checks that a tenant's list never contains a brand from another organisation
// or mode.
func TestRunSeparatesMostUsedBrandsByTenant(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.connectAt(t, tenant, "a", 1, 1)
	f.connectAt(t, other, "b", 6, 1)
	f.run(t)
	for of, want := range map[org.Tenant][]string{
		tenant: {"a"}, other: {"b"},
		{Mode: org.Live, OrgID: tenant.OrgID}: nil, {Mode: org.Test, OrgID: other.OrgID}: nil,
	} {
		if diff := cmp.Diff(want, f.mostUsed(t, of)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", of.Key(), diff)
		}
	}
}

// TestRunOmitsBrandsOfFewLivePatients checks that the public list does not reveal where individual patients are
// treated. Lists in test mode have no minimum size, because test mode has no real patients.
func TestRunOmitsBrandsOfFewLivePatients(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, of := range []org.Tenant{tenant, other} {
		f.connectAt(t, of, "a", 4, 1)
		f.connectAt(t, of, "b", 3, 1)
		f.connectAt(t, of, "b", 2, 2)
	}
	f.run(t)
	for of, want := range map[org.Tenant][]string{tenant: {"b", "a"}, other: {"b"}} {
		if diff := cmp.Diff(want, f.mostUsed(t, of)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", of.Key(), diff)
		}
	}
}

func TestRunKeepsTenMostUsedBrands(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 65 { // more brands than are stored for a day
		f.connectAt(t, tenant, fmt.Sprintf("%02d", i), 1, 1)
	}
	f.connectAt(t, tenant, "64", 1, 1)
	f.connectAt(t, tenant, "63", 1, 1)
	f.run(t)
	got := f.mostUsed(t, tenant)
	if len(got) != 10 || got[0] != "63" || got[1] != "64" || got[2] != "00" {
		t.Errorf("%q", got)
	}
}
