package searchcatalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/searchcatalog"
	"recordbridge/infra/testkit/browsertest"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/catalog/serve"
	"recordbridge/shared/words/cursor"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

const (
	alder     = keyedtest.PublicA
	birch     = keyedtest.PublicB
	alderLive = keyedtest.LiveA
)

// catalogue holds each mode's editions, if any, ending with the live edition.
type catalogue struct {
	t        testing.TB
	editions map[string][]edition
	broken   bool
	used     used
}

type edition struct {
	name  serve.Edition
	found serve.Searchable
}

func (c *catalogue) Live(_ context.Context, mode string) (serve.Edition, serve.Searchable, error) {
	if c.broken {
		return serve.Edition{}, serve.Searchable{},
			fault.New(fault.Unavailable, fault.CodeUnavailable, "The catalogue can't be read right now. Please try "+
				"again.")
	}
	all := c.editions[mode]
	if len(all) == 0 {
		return serve.Edition{}, serve.Searchable{}, nil
	}
	live := all[len(all)-1]
	return live.name, live.found, nil
}

func (c *catalogue) At(_ context.Context, mode string, e serve.Edition) (serve.Searchable, error) {
	for _, one := range c.editions[mode] {
		if one.name == e {
			return one.found, nil
		}
	}
	return serve.Searchable{}, fault.Gone
}

// publish adds an edition with the given brands and makes it the mode's live edition.
func (c *catalogue) publish(mode string, brands ...record.Brand) {
	c.t.Helper()
	entries := make([]search.Entry, 0, len(brands))
	for _, b := range brands {
		entries = append(entries, search.Entry{
			Brand:   b,
			Portals: []record.Portal{{ID: ids.Derive("portal", b.ID), EndpointIDs: []string{ids.Derive("endpoint", b.ID)}}},
		})
	}
	index, err := search.Build(entries)
	if err != nil {
		c.t.Fatal(err)
	}
	number := len(c.editions[mode])
	version := ledger.NewVersion(time.Date(2026, 3, 4, 5, 6, number, 0, time.UTC), fmt.Sprintf("%016x", number))
	summary := health.Summarize([]health.Record{{
		EndpointID: ids.Derive("endpoint", brands[0].ID), State: health.Down,
		CheckedAt: time.Unix(60, 0),
	}})
	c.editions[mode] = append(c.editions[mode],
		edition{serve.Edition{Version: version}, serve.Searchable{Index: index, Health: summary}})
}

func clinic(number int, name, state, zip, platform string) record.Brand {
	return record.Brand{
		ID: ids.Derive("brand", strconv.Itoa(number)), LastUpdated: time.Unix(0, 0).UTC(), Name: name,
		SortName: strings.ToLower(name), PlatformType: platform,
		Locations: []record.Location{{City: "Springfield", State: state, PostalCode: zip, Country: "US"}},
	}
}

func newCatalogue(tb testing.TB) *catalogue {
	tb.Helper()
	c := &catalogue{t: tb, editions: map[string][]edition{}}
	all := make([]record.Brand, 0, 242)
	for i := range 240 {
		all = append(all, clinic(i, fmt.Sprintf("Maple Clinic %03d", i), "NY", "10001", "smart"))
	}
	all = append(all, clinic(900, "Alder Hospital", "CA", "94110", "smart"),
		clinic(901, "Birch Hospital", "OH", "44101", "epic"))
	c.publish("test", all...)
	return c
}

func (c *catalogue) handler() http.Handler {
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	if err != nil {
		c.t.Fatal(err)
	}
	return searchcatalog.New(searchcatalog.Deps{
		API: keyedtest.NewAPI(), Auth: browsertest.Auth(), Catalogue: c,
		Cursors:  serve.Cursors{Sealer: cursor.Sealer{Keys: ring}},
		MostUsed: serve.NewMostUsed(c.used, time.Now),
	})
}

type answer struct {
	status int
	text   string
	header http.Header
	Data   struct {
		Hits struct {
			Total struct {
				Value    int
				Relation string
			}
			MaxScore float64 `json:"max_score"`
			Hits     []struct {
				Type   string            `json:"_type"`
				ID     string            `json:"_id"`
				Score  float64           `json:"_score"`
				Sort   []json.RawMessage `json:"sort"`
				Source struct {
					ID, Name   string
					Health     struct{ State string }
					MostUsed   bool     `json:"most_used"`
					DistanceKM *float64 `json:"distance_km"`
				} `json:"_source"`
			}
		}
	}
}

func (c *catalogue) post(query, body string) answer {
	c.t.Helper()
	r := httptest.NewRequest(http.MethodPost, searchcatalog.Route+query, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", "https://app.example")
	w := httptest.NewRecorder()
	c.handler().ServeHTTP(w, r)
	got := answer{status: w.Code, text: w.Body.String(), header: w.Header()}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		c.t.Fatalf("%s: %v", got.text, err)
	}
	return got
}

func (a answer) names() string {
	all := make([]string, 0, len(a.Data.Hits.Hits))
	for _, hit := range a.Data.Hits.Hits {
		all = append(all, hit.Source.Name)
	}
	return strings.Join(all, ", ")
}

func TestSearchReturnsHits(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t)
	for body, want := range map[string]string{
		`{"query":"alder hospital","size":1}`:                  "Alder Hospital",
		`{"query":"hospital","locations":["oh"]}`:              "Birch Hospital",
		`{"query":"hospital","platformTypes":["epic","none"]}`: "Birch Hospital",
		`{"query":"hospital","sortBy":"location",` +
			`"sortByOpts":{"locationZipcodes":["44101-0001"]}}`: "Birch Hospital, Alder Hospital",
		`{"query":"nothing like it","api":1}`:                       "",
		`{"query":"","size":2}`:                                     "Alder Hospital, Birch Hospital",
		`{"size":1}`:                                                "Alder Hospital",
		`{"query":".*?^$()[]\\","size":1}`:                          "Alder Hospital",
		`{"query":"\u0000\u0007hospital\u0000","locations":["OH"]}`: "Birch Hospital",
	} {
		got := c.post("?public_id="+alder+"&api_mode=test", body)
		if got.status != http.StatusOK || got.names() != want {
			t.Errorf("%s: %d %s\nwant %s", body, got.status, got.names(), want)
		}
	}
	first := c.post("?public_id="+alder, `{"query":"maple clinic 000"}`)
	hit := first.Data.Hits.Hits[0]
	if hit.Type != "brand" || hit.ID != hit.Source.ID || hit.ID != ids.Derive("brand", "0") ||
		hit.Source.Health.State != "down" || hit.Score <= 0 ||
		len(hit.Sort) != 4 || first.Data.Hits.MaxScore != hit.Score || first.Data.Hits.Total.Relation != "eq" ||
		len(first.Data.Hits.Hits) > 25 {
		t.Errorf("got %s", first.text)
	}
	if got := first.header.Get("Access-Control-Allow-Origin"); got != "https://app.example" {
		t.Errorf("CORS: %s", got)
	}
	empty := `{"success":true,"data":{"hits":{"total":{"value":0,"relation":"eq"},"max_score":0,"hits":[]}}}`
	if got := c.post("?public_id="+alderLive, `{"query":"maple"}`); strings.TrimSpace(got.text) != empty {
		t.Errorf("a mode without a catalogue: %s", got.text)
	}
}

func TestSearchReturnsEachHitOnceDuringPublication(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"query":"maple","size":7%s}`, `{"query":"","size":100%s}`,
		`{"query":"clinic","sortBy":"location","sortByOpts":{"locationZipcodes":["94110"]}%s}`,
	} {
		c := newCatalogue(t)
		want := c.post("?public_id="+alder, fmt.Sprintf(body, "")).Data.Hits.Total.Value
		seen, after := map[string]bool{}, ""
		for page := 0; ; page++ {
			got := c.post("?public_id="+alder, fmt.Sprintf(body, after))
			if got.status != http.StatusOK || got.Data.Hits.Total.Value != want {
				t.Fatalf("page %d: %s", page, got.text)
			}
			for _, hit := range got.Data.Hits.Hits {
				if seen[hit.ID] {
					t.Fatalf("page %d repeats %s", page, hit.Source.Name)
				}
				seen[hit.ID] = true
			}
			if len(got.Data.Hits.Hits) == 0 {
				break
			}
			last := got.Data.Hits.Hits[len(got.Data.Hits.Hits)-1].Sort
			if page%2 == 1 { // numeric parameters may be sent as strings
				last[0] = json.RawMessage(`"` + string(last[0]) + `"`)
			}
			after = `,"searchAfter":[` + string(bytes.Join([][]byte{last[0], last[1], last[2], last[3]}, []byte{','})) + `]`
			c.publish("test", clinic(page, fmt.Sprintf("Maple Other %d", page), "NY", "10001", "smart"),
				clinic(5000, "Clinic Maple", "NY", "10001", "smart"))
		}
		if len(seen) != want || want < 200 {
			t.Errorf("%s: %d of %d", body, len(seen), want)
		}
	}
}

func TestSearchRejectsInvalidRequest(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t)
	first := c.post("?public_id="+alder, `{"query":"maple"}`)
	sort, err := json.Marshal(first.Data.Hits.Hits[3].Sort)
	if err != nil {
		t.Fatal(err)
	}
	maple := func(after string) string { return `{"query":"maple","searchAfter":` + after + `}` }
	cursorRefused := "searchAfter must be the unchanged sort values of a hit from the same search."
	codes := "locations must be two-letter state codes."
	zips := "sortBy=location requires sortByOpts.locationZipcodes: 1 to 10 five-digit ZIP codes."
	for name, e := range map[string]struct {
		query, body string
		want        string
	}{
		"the other mode": {alder + "&api_mode=live", `{"query":"maple"}`, "api_mode must match the mode of public_id."},
		"no mode":        {alder + "&api_mode=TEST", `{"query":"maple"}`, "api_mode must match the mode of public_id."},
		"a number":       {alder, `{"query":1}`, "query must be a string."},
		"a long query": {
			alder, `{"query":"` + strings.Repeat("é", 301) + `"}`,
			"query must have at most 300 characters.",
		},
		"no hits":       {alder, `{"size":0}`, "size must be an integer from 1 to 100."},
		"too many hits": {alder, `{"size":101}`, "size must be an integer from 1 to 100."},
		"half a hit":    {alder, `{"size":1.5}`, "size must be a number."},
		"no list":       {alder, `{"platformTypes":"smart"}`, "platformTypes must be an array."},
		"a long list": {
			alder, `{"platformTypes":["` + strings.Repeat(`a","`, 60) + `"]}`,
			"platformTypes must have at most 60 values, each of at most 64 characters.",
		},
		"no state":                {alder, `{"locations":["New York"]}`, codes},
		"a state with a wildcard": {alder, `{"locations":["N*"]}`, codes},
		"an unknown order":        {alder, `{"sortBy":"name"}`, "sortBy must be location or omitted."},
		"no place":                {alder, `{"sortBy":"location"}`, zips},
		"no ZIP":                  {alder, `{"sortBy":"location","sortByOpts":{"locationZipcodes":["Here!"]}}`, zips},
		"no cursor":               {alder, maple(`"x"`), "searchAfter must be an array."},
		"half a cursor":           {alder, maple(`[1,"a"]`), cursorRefused},
		"a forged cursor":         {alder, maple(`[1,"a","b","1.AAAA"]`), cursorRefused},
		"nested":                  {alder, maple(`[[1],{"a":1},"b",null]`), cursorRefused},
		"of another organisation": {birch, maple(string(sort)), cursorRefused},
		"of the other mode":       {alderLive, maple(string(sort)), cursorRefused},
		"of another search":       {alder, `{"query":"clinic","searchAfter":` + string(sort) + `}`, cursorRefused},
		"with another filter": {
			alder, `{"query":"maple","locations":["NY"],"searchAfter":` + string(sort) + `}`,
			cursorRefused,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.post("?public_id="+e.query, e.body)
			want := `{"success":false,"error":"svc_invalid_request","error_description":"` + e.want + `","request_id":"` +
				keyedtest.RequestID + `"}`
			if got.status != http.StatusBadRequest || strings.TrimSpace(got.text) != want {
				t.Errorf("got %d %s\nwant %s", got.status, got.text, want)
			}
		})
	}
	if got := c.post("?public_id="+alder, `{"query":"maple","size":3,"searchAfter":`+string(sort)+
		`}`); got.status != http.StatusOK {
		t.Errorf("another size: %s", got.text)
	}
	if got := c.post("?public_id=x", `{}`); got.status != http.StatusUnauthorized {
		t.Errorf("a stranger: %s", got.text)
	}
	if got := c.post("?public_id="+alder, `{"query":"`+strings.Repeat("a", 64<<10)+
		`"}`); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a huge body: %d", got.status)
	}
}

func TestSearchCursorExpiresWithCatalogueVersion(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t)
	sort, err := json.Marshal(c.post("?public_id="+alder, `{"query":"maple"}`).Data.Hits.Hits[0].Sort)
	if err != nil {
		t.Fatal(err)
	}
	c.publish("test", clinic(1, "Maple Other", "NY", "10001", "smart"))
	c.editions["test"] = c.editions["test"][1:]
	got := c.post("?public_id="+alder, `{"query":"maple","searchAfter":`+string(sort)+`}`)
	if got.status != http.StatusBadRequest ||
		!strings.Contains(got.text, "searchAfter has expired because the catalogue changed.") {
		t.Errorf("got %d %s", got.status, got.text)
	}
	c.broken = true
	if got := c.post("?public_id="+alder, `{"query":"maple"}`); got.status != http.StatusServiceUnavailable {
		t.Errorf("broken: %d %s", got.status, got.text)
	}
}
