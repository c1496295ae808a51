package searchcatalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// used holds each tenant's most used brands. For a tenant without an entry in used, reading the brands fails.
type used map[org.Tenant][]string

func (u used) MostUsed(_ context.Context, tenant org.Tenant) ([]string, error) {
	brands, ok := u[tenant]
	if !ok {
		return nil, errors.New("too busy")
	}
	return brands, nil
}

// newUsedCatalogue returns a catalogue in which organisation A has used different brands in each mode.
func newUsedCatalogue(t *testing.T) *catalogue {
	t.Helper()
	c := newCatalogue(t)
	c.publish("live", clinic(1, "Live Clinic", "NY", "10001", "smart"), clinic(2, "Next Clinic", "NY", "10001", "smart"))
	one, two := org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"},
		org.Tenant{Mode: org.Live, OrgID: "a0000000-0000-4000-8000-000000000001"}
	c.used = used{
		one: {ids.Derive("brand", "7"), ids.Derive("brand", "unpublished"), ids.Derive("brand", "901")},
		two: {ids.Derive("brand", "2")},
	}
	return c
}

func TestSearchSuggestsMostUsedThenNearest(t *testing.T) {
	t.Parallel()
	c := newUsedCatalogue(t)
	zip := `"sortByOpts":{"locationZipcodes":["94110"]}`
	for _, e := range []struct{ publicID, body, want string }{
		{alder, `{"query":"","suggest":true,"size":3}`, "Maple Clinic 007, Birch Hospital, Alder Hospital"},
		{alder, `{"suggest":true,"size":1}`, "Maple Clinic 007"},
		{
			alder, `{"query":" ","suggest":true,"size":4,` + zip + `}`,
			"Maple Clinic 007, Birch Hospital, Alder Hospital, Maple Clinic 000",
		},
		{alder, `{"suggest":true,"locations":["OH"]}`, "Birch Hospital"},
		// without the suggest parameter, an empty query lists institutions by name
		{alder, `{"query":"","size":2}`, "Alder Hospital, Birch Hospital"},
		{alder, `{"query":"","size":2,` + zip + `}`, "Alder Hospital, Birch Hospital"},
		// suggest does not affect text searches
		{alder, `{"query":"hospital","suggest":true,"locations":["CA"]}`, "Alder Hospital"},
		{alder, `{"query":"94110","suggest":true,"size":1}`, "Alder Hospital"},
		// another tenant's institutions never come first, and the search succeeds even if reading the used brands fails
		{birch, `{"query":"","suggest":true,"size":2}`, "Alder Hospital, Birch Hospital"},
		{alderLive, `{"query":"","suggest":true}`, "Next Clinic, Live Clinic"},
	} {
		got := c.post("?public_id="+e.publicID, e.body)
		if got.status != http.StatusOK || got.names() != e.want {
			t.Errorf("%s %s: %d %s\nwant %s", e.publicID, e.body, got.status, got.names(), e.want)
		}
	}
	hits := c.post("?public_id="+alder, `{"suggest":true,"size":3,`+zip+`}`).Data.Hits.Hits
	if !hits[0].Source.MostUsed || !hits[1].Source.MostUsed || hits[2].Source.MostUsed {
		t.Errorf("most used: %+v", hits)
	}
	if km := hits[2].Source.DistanceKM; km == nil || *km != 0 {
		t.Errorf("distance: %+v", hits[2].Source)
	}
	if none := c.post("?public_id="+alder, `{"query":"alder"}`); strings.Contains(none.text, "distance_km") ||
		strings.Contains(none.text, "most_used") {
		t.Errorf("got %s", none.text)
	}
}

// TestSearchSuggestsEachHitOnceWhenUsageChanges pages through suggestions while the most used institutions change.
func TestSearchSuggestsEachHitOnceWhenUsageChanges(t *testing.T) {
	t.Parallel()
	c := newUsedCatalogue(t)
	tenant := org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"}
	seen, after := map[string]bool{}, ""
	for page := 0; ; page++ {
		got := c.post("?public_id="+alder, `{"suggest":true,"size":2`+after+`}`)
		if got.status != http.StatusOK || got.Data.Hits.Total.Value != 242 {
			t.Fatalf("page %d: %s", page, got.text)
		}
		if len(got.Data.Hits.Hits) == 0 {
			break
		}
		for _, hit := range got.Data.Hits.Hits {
			if seen[hit.ID] {
				t.Fatalf("page %d repeats %s", page, hit.Source.Name)
			}
			seen[hit.ID] = true
		}
		last := got.Data.Hits.Hits[len(got.Data.Hits.Hits)-1].Sort
		after = `,"searchAfter":[` + string(bytes.Join([][]byte{last[0], last[1], last[2], last[3]}, []byte{','})) + `]`
		c.used[tenant] = []string{ids.Derive("brand", strconv.Itoa(page)), ids.Derive("brand", strconv.Itoa(page+100))}
	}
	if len(seen) != 242 {
		t.Errorf("%d hits", len(seen))
	}
}

func TestSearchRejectsSuggestionCursorFromAnotherSearch(t *testing.T) {
	t.Parallel()
	c := newUsedCatalogue(t)
	sort, err := json.Marshal(c.post("?public_id="+alder, `{"suggest":true}`).Data.Hits.Hits[1].Sort)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []struct {
		publicID, suggest string
		status            int
	}{
		{alder, "true", http.StatusOK},
		{alder, "false", http.StatusBadRequest},
		{alder, "null", http.StatusBadRequest},
		{keyedtest.PublicB, "true", http.StatusBadRequest},
		{alderLive, "true", http.StatusBadRequest},
	} {
		got := c.post("?public_id="+e.publicID, `{"suggest":`+e.suggest+`,"searchAfter":`+string(sort)+`}`)
		if got.status != e.status {
			t.Errorf("%s, %s: %s", e.publicID, e.suggest, got.text)
		}
	}
}

func TestSearchSortsByDistanceFromZIPInText(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t)
	got := c.post("?public_id="+alder, `{"query":"hospital 44101"}`)
	if got.names() != "Birch Hospital, Alder Hospital" {
		t.Fatal(got.text)
	}
	near, far := got.Data.Hits.Hits[0].Source.DistanceKM, got.Data.Hits.Hits[1].Source.DistanceKM
	if near == nil || far == nil || *near != 0 || *far < 3000 || *far > 4000 {
		t.Errorf("got %s", got.text)
	}
	explicit := c.post("?public_id="+alder,
		`{"query":"hospital 44101","sortBy":"location","sortByOpts":{"locationZipcodes":["94110"]}}`)
	if explicit.names() != "Alder Hospital, Birch Hospital" {
		t.Errorf("explicit: %s", explicit.text)
	}
}
