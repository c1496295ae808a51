package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/catalog/serve"
	"recordbridge/shared/words/org"
)

func TestShownAddsDistanceAndMovesNearestLocationToFront(t *testing.T) {
	t.Parallel()
	reno, hoboken := record.Location{City: "Reno", PostalCode: "89501"}, record.Location{
		City:       "Hoboken",
		PostalCode: "07030-1234",
	}
	none := record.Location{City: "Gull Rock"}
	for name, c := range map[string]struct {
		zips      []string
		locations []record.Location
		distance  string
		first     string
	}{
		"no ZIP":             {nil, []record.Location{reno, hoboken}, "", "Reno"},
		"the same ZIP":       {[]string{"07030"}, []record.Location{reno, none, hoboken}, "0", "Hoboken"},
		"a neighbouring ZIP": {[]string{"07031"}, []record.Location{hoboken, reno}, "6", "Hoboken"},
		"a near ZIP":         {[]string{"07102"}, []record.Location{reno, hoboken}, "20", "Hoboken"},
		"a distant ZIP":      {[]string{"12207"}, []record.Location{hoboken}, "210", "Hoboken"},
		"the nearest of two": {[]string{"12207", "89502"}, []record.Location{hoboken, reno}, "6", "Reno"},
		"an unknown ZIP":     {[]string{"00000"}, []record.Location{reno, hoboken}, "", "Reno"},
		"an unknown place":   {[]string{"07030"}, []record.Location{none}, "", "Gull Rock"},
	} {
		source, err := json.Marshal(search.Source{ID: "a", Locations: c.locations})
		expect.NoError(t, err)
		shown, err := serve.Searchable{}.Shown(ownhosts.Own(), search.Hit{Source: source, IsFirst: name == "no ZIP"}, c.zips)
		expect.NoError(t, err)
		var got struct {
			Distance  json.Number `json:"distance_km"`
			MostUsed  bool        `json:"most_used"`
			Locations []record.Location
		}
		expect.NoError(t, json.Unmarshal(shown, &got))
		if got.Distance.String() != c.distance || got.Locations[0].City != c.first ||
			len(got.Locations) != len(c.locations) || got.MostUsed != (name == "no ZIP") {
			t.Errorf("%s: %s", name, shown)
		}
	}
}

type used struct {
	reads int
	err   error
}

func (u *used) MostUsed(_ context.Context, tenant org.Tenant) ([]string, error) {
	u.reads++
	return []string{tenant.Key()}, u.err
}

func TestMostUsedCachesBrandsOfEachTenant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := &used{}
		m := serve.NewMostUsed(u, time.Now)
		tenants := []org.Tenant{
			{Mode: org.Test, OrgID: "a"}, {Mode: org.Live, OrgID: "a"}, {Mode: org.Test, OrgID: "b"},
		}
		for range 3 {
			for _, tenant := range tenants {
				if diff := cmp.Diff([]string{tenant.Key()}, m.Of(t.Context(), tenant)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tenant.Key(), diff)
				}
			}
		}
		if u.reads != len(tenants) {
			t.Errorf("%d reads", u.reads)
		}
		<-time.After(5 * time.Minute)
		u.err = errors.New("too busy")
		for range 3 { // If a read fails, the last known brands remain in use, and the read is not repeated immediately.
			if got := m.Of(t.Context(), tenants[0]); len(got) != 1 || u.reads != len(tenants)+1 {
				t.Errorf("%q after %d reads", got, u.reads)
			}
		}
		<-time.After(10 * time.Second)
		m.Of(t.Context(), tenants[0])
		if u.reads != len(tenants)+2 {
			t.Errorf("%d reads", u.reads)
		}
		<-time.After(13 * time.Hour)
		m.Of(t.Context(), tenants[0])
		<-time.After(13 * time.Hour)
		if got := m.Of(t.Context(), tenants[0]); len(got) != 0 {
			t.Errorf("read more than a day ago: %q", got)
		}
		if got := m.Of(t.Context(), org.Tenant{Mode: org.Live, OrgID: "c"}); len(got) != 0 {
			t.Errorf("never read: %q", got)
		}
	})
}
