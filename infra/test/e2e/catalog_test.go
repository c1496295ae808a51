package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/words/ids"
)

// institutions returns a catalogue of the sandbox and the given number of other institutions.
func (s catalogs) institutions(others int) record.Catalog {
	c := record.Catalog{
		Brands: map[string]record.Brand{}, Portals: map[string]record.Portal{}, Endpoints: map[string]record.Endpoint{},
		Successors: map[string]string{},
	}
	add := func(name, brand, portal, endpoint string) {
		c.Brands[brand] = record.Brand{
			ID: brand, LastUpdated: time.Now().UTC(), Name: name, SortName: strings.ToLower(name), PortalIDs: []string{portal},
			PlatformType: "sandbox",
			Aliases:      []string{}, Locations: []record.Location{}, BrandIDs: []string{}, NPIs: []string{},
		}
		c.Portals[portal] = record.Portal{
			ID: portal, LastUpdated: time.Now().UTC(), Name: name,
			EndpointIDs: []string{endpoint},
		}
		c.Endpoints[endpoint] = record.Endpoint{
			ID: endpoint, LastUpdated: time.Now().UTC(), Status: record.Active, ConnectionType: record.ConnectionType,
			PlatformType: "sandbox",
			FHIRVersion:  "4.0.1", Name: name, FHIRBase: "https://fhir.example/" + endpoint,
		}
	}
	for i := range others {
		add(fmt.Sprintf("Maple Clinic %03d", i), ids.Derive("brand", strconv.Itoa(i)), ids.Derive("portal", strconv.Itoa(i)),
			ids.Derive("endpoint", strconv.Itoa(i)))
	}
	c.Successors[ids.Derive("merged")] = s.seeded.Sandbox.BrandID
	add("Sandbox Hospital", s.seeded.Sandbox.BrandID, s.seeded.Sandbox.PortalID, s.seeded.Sandbox.EndpointID)
	sandbox := c.Brands[s.seeded.Sandbox.BrandID]
	sandbox.Locations = []record.Location{{City: "Boston", State: "MA", PostalCode: "02134", Country: "US"}}
	c.Brands[sandbox.ID] = sandbox
	return c
}

// goLive publishes a mode's catalogue with a summary of its endpoints' health.
func (s catalogs) goLive(mode string, c record.Catalog) {
	s.t.Helper()
	if _, isTest := s.t.(*testing.T); isTest {
		s.t.Cleanup(synctest.Wait) // waits for searches that are still loading files into the test's folder
	}
	files := s.catalog.catalogFiles()
	version, err := snapshot.Snapshots{Files: files}.Write(s.t.Context(), mode, c, time.Now())
	expect.NoError(s.t, err)
	rows := store.Catalog{DB: s.rows, Table: s.template.Outputs["CatalogTable"]}
	seen, err := rows.Pointer(s.t.Context(), mode)
	expect.NoError(s.t, err)
	next := seen
	next.Live, next.MovedAt = version, time.Now()
	expect.NoError(s.t, rows.MovePointer(s.t.Context(), seen, next))

	summary := health.Summarize([]health.Record{{
		EndpointID: s.seeded.Sandbox.EndpointID, State: health.OK,
		CheckedAt: time.Now(),
	}})
	latest := summary.Version(time.Now())
	expect.NoError(s.t, files.Write(s.t.Context(), health.ObjectName(mode, latest), "application/octet-stream",
		func(w io.Writer) error {
			_, failed := w.Write(summary.Bytes())
			return failed
		}))
	pointers := s.state.healthRows()
	pointer, err := pointers.Pointer(s.t.Context(), mode)
	expect.NoError(s.t, err)
	pointer.Version, pointer.States = latest, summary.States()
	expect.NoError(s.t, pointers.MovePointer(s.t.Context(), pointer))
}

type found struct {
	Hits struct {
		Total struct{ Value int }
		Hits  []hit
	}
}

type hit struct {
	ID     string            `json:"_id"`
	Sort   []json.RawMessage `json:"sort"`
	Source struct {
		Name    string
		Portals []record.Portal
		Health  health.Status

		DistanceKM *float64 `json:"distance_km"`
		MostUsed   bool     `json:"most_used"`
	} `json:"_source"`
}

func (s catalogs) first(typed string) hit {
	s.t.Helper()
	hits := s.catalog.search(map[string]any{"query": typed}).Hits.Hits
	if len(hits) == 0 {
		s.t.Fatalf("nothing is found by %q", typed)
	}
	return hits[0]
}

func (s catalogs) search(body map[string]any) found {
	s.t.Helper()
	var page found
	got := s.call(http.MethodPost, "/bridge/catalog/search?api_mode=test&public_id="+s.seeded.Organisations[0].PublicID,
		"", "", body)
	if got.status != http.StatusOK || json.Unmarshal(got.Data, &page) != nil {
		s.t.Fatalf("the search answered %d %s", got.status, got.raw)
	}
	return page
}

func TestPatientCanFindAndConnectHospital(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		s.catalog.goLive("test", s.catalog.institutions(5))
		<-time.After(11 * time.Second)
		first := s.catalog.search(map[string]any{"query": "sandbx hosp"}).Hits.Hits[0]
		if first.ID != s.seeded.Sandbox.BrandID || first.Source.Health.State != health.OK {
			t.Errorf("found %+v", first)
		}
		connected := s.patient.connect(crashPersona, "approve")
		if got := connected.Get("endpoint_id"); got != first.Source.Portals[0].EndpointIDs[0] {
			t.Errorf("connected to %s, found %v", got, first.Source.Portals)
		}
		checkRecords(t, s)
		checkCatalogueFiles(t, s)
	})
}

func checkRecords(t *testing.T, s *stack) {
	t.Helper()
	public := "?public_id=" + s.seeded.Organisations[0].PublicID
	for query, want := range map[string]string{
		"&brand_id=" + s.seeded.Sandbox.BrandID:       s.seeded.Sandbox.BrandID,
		"&brand_id=" + ids.Derive("merged"):           s.seeded.Sandbox.BrandID,
		"&portal_id=" + s.seeded.Sandbox.PortalID:     s.seeded.Sandbox.PortalID,
		"&endpoint_id=" + s.seeded.Sandbox.EndpointID: s.seeded.Sandbox.EndpointID,
	} {
		got := s.call(http.MethodGet, "/bridge/catalog"+public+query, "", "", nil)
		var shown struct{ ID string }
		if got.status != http.StatusOK || json.Unmarshal(got.Data, &shown) != nil || shown.ID != want ||
			strings.Contains(string(got.raw), "fhir.example") {
			t.Errorf("%s: %d %s", query, got.status, got.raw)
		}
	}
	live := s.call(http.MethodGet, "/bridge/catalog?public_id="+s.seeded.Organisations[1].PublicID+"&brand_id="+
		ids.Derive("brand", "1"), "", "", nil)
	if live.status != http.StatusNotFound {
		t.Errorf("the other mode's: %d %s", live.status, live.raw)
	}
}

func checkCatalogueFiles(t *testing.T, s *stack) {
	t.Helper()
	for name, address := range s.catalog.catalogueFiles() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
		expect.NoError(t, err)
		answer, err := s.Do(request)
		expect.NoError(t, err)
		_ = answer.Body.Close()
		request, err = http.NewRequestWithContext(t.Context(), http.MethodGet, answer.Header.Get("Location"), http.NoBody)
		expect.NoError(t, err)
		answer, err = s.Do(request)
		expect.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		expect.NoError(t, err)
		_ = answer.Body.Close()
		var records map[string]struct{ ID string }
		if err := json.Unmarshal(body, &records); err != nil || len(records) != 6 ||
			strings.Contains(string(body), "fhir.example") {
			t.Errorf("%s: %d %v %s", name, answer.StatusCode, err, body)
		}
	}
}

// catalogueFiles returns the URLs of the catalogue's files, keyed by file name.
func (s catalogs) catalogueFiles() map[string]string {
	s.t.Helper()
	files := map[string]string{}
	if got := s.org.request(http.MethodGet, "/bridge/catalog/export", nil); got.status != http.StatusOK ||
		json.Unmarshal(got.Data, &files) != nil {
		s.t.Fatalf("the export answered %d %s", got.status, got.raw)
	}
	return files
}

// TestSearchPaginatesWithoutDuplicatesDuringPublication checks that later pages stay consistent while a new catalogue
// is published, even on an instance that has never loaded the previous catalogue. The test uses the production wiring.
func TestSearchPaginatesWithoutDuplicatesDuringPublication(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		s.catalog.goLive("test", s.catalog.institutions(120))
		<-time.After(11 * time.Second)
		seen, body := map[string]bool{}, map[string]any{"query": "maple", "size": 9}
		for page := 0; ; page++ {
			got := s.catalog.search(body)
			if len(got.Hits.Hits) == 0 {
				break
			}
			for _, hit := range got.Hits.Hits {
				if seen[hit.ID] {
					t.Errorf("%s comes twice", hit.Source.Name)
				}
				seen[hit.ID] = true
			}
			body["searchAfter"] = got.Hits.Hits[len(got.Hits.Hits)-1].Sort
			s.catalog.goLive("test", s.catalog.institutions(page))
			<-time.After(11 * time.Second)
			if page%3 == 0 {
				function := s.functions["SearchCatalogFunction"]
				function.life, function.serve, function.dir = nil, nil, t.TempDir()
			}
		}
		if len(seen) != 120 {
			t.Errorf("%d of 120", len(seen))
		}
	})
}

// runCatalog exercises every catalogue operation.
func runCatalog(s *stack) {
	s.t.Helper()
	s.catalog.goLive("test", s.catalog.institutions(0))
	if got := s.catalog.search(map[string]any{"query": "sandbox"}); got.Hits.Total.Value == 0 {
		s.t.Error("the sandbox is not found")
	}
	if near := s.catalog.first("sandbox 02134").Source.DistanceKM; near == nil || *near != 0 {
		s.t.Errorf("the sandbox is %v km away", near)
	}
	for _, query := range []string{
		"&brand_id=" + s.seeded.Sandbox.BrandID, "&portal_id=" + s.seeded.Sandbox.PortalID,
		"&endpoint_id=" + s.seeded.Sandbox.EndpointID,
	} {
		s.catalog.lookAt(query)
	}
	s.catalog.follow(s.catalog.catalogueFiles())
}

func (s catalogs) lookAt(query string) {
	s.t.Helper()
	if got := s.call(http.MethodGet, "/bridge/catalog?public_id="+s.seeded.Organisations[0].PublicID+query, "", "",
		nil); got.status != http.StatusOK {
		s.t.Errorf("%s: %d %s", query, got.status, got.raw)
	}
}

func (s catalogs) follow(files map[string]string) {
	s.t.Helper()
	for name, address := range files {
		file := s.call(http.MethodGet, strings.TrimPrefix(address, baseURL), "", "", nil)
		if file.status != http.StatusFound || fetch(s.stack, file.header.Get("Location")) != http.StatusOK {
			s.t.Errorf("%s: %d %s", name, file.status, file.raw)
		}
	}
}

func fetch(s *stack, address string) int {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, address, http.NoBody)
	expect.NoError(s.t, err)
	answer, err := s.Do(request)
	expect.NoError(s.t, err)
	_ = answer.Body.Close()
	return answer.StatusCode
}
