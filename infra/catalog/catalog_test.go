package catalog_test

import (
	"os"
	"strings"
	"testing"
	"time"

	shipped "recordbridge/infra/catalog"
	"recordbridge/infra/catalog/us"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/geo"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/words/ids"
)

func TestPublishedSourcesAreValid(t *testing.T) {
	t.Parallel()
	platforms, err := platform.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	known, err := shipped.Sources()
	if err != nil {
		t.Fatal(err)
	}
	seen, fetched := map[string]bool{}, 0
	for _, s := range known {
		if err := s.Check(); err != nil || seen[s.ID] {
			t.Errorf("%s: %v, or it stands there twice", s.ID, err)
		}
		if seen[s.ID] = true; s.URL != "" {
			fetched++
		}
		if (s.URL != "") != (s.Every >= 24*time.Hour) || (s.URL != "") != (s.License != "") {
			t.Errorf("%s: is fetched from %q every %v, with the licence %q", s.ID, s.URL, s.Every, s.License)
		}
		if s.Mode != "live" {
			t.Errorf("%s: real institutions are not for mode %s", s.ID, s.Mode)
		}
		if got := platforms.Of(catalog.Endpoint{PlatformType: s.Platform}).ID; s.Platform != "" && got != s.Platform {
			t.Errorf("%s: there is no platform %s", s.ID, s.Platform)
		}
	}
	if fetched < 10 {
		t.Errorf("%d lists are fetched", fetched)
	}
}

func TestReadAcceptsExampleList(t *testing.T) {
	t.Parallel()
	file, err := os.Open("example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	report, err := listing.Read(t.Context(), listing.YAML, file, func(listing.Listing) error { return nil })
	if err != nil || report.Listings != 3 || report.Entries != 6 || len(report.Problems) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

func read(t *testing.T, list shipped.List) []listing.Listing {
	t.Helper()
	if err := list.Check(); err != nil || list.Mode != "test" {
		t.Errorf("the source %s: %v, of mode %s", list.ID, err, list.Mode)
	}
	var all []listing.Listing
	report, err := listing.Read(t.Context(), list.Format, list.Body, func(l listing.Listing) error {
		all = append(all, l)
		return nil
	})
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("%s: %+v, %v", list.ID, report, err)
	}
	return all
}

const sandboxAddress = "http://127.0.0.1:4566/v1/sandbox"

func TestSandboxInstitutionsHaveDistinctNames(t *testing.T) {
	t.Parallel()
	list := shipped.Sandbox.Lists(sandboxAddress)[0]
	hospitals := 0
	for _, l := range read(t, list) {
		if !strings.HasPrefix(l.Name, "Sandbox ") {
			t.Errorf("%s is no name of a sandbox", l.Name)
		}
		for _, at := range l.Locations {
			if at.State != geo.State(at.PostalCode) || !strings.Contains(at.City, "Sand") {
				t.Errorf("%s: %+v is no place in that state, or one that there is", l.Name, at)
			}
		}
		for _, p := range l.Portals {
			for _, e := range p.Endpoints {
				if !strings.HasPrefix(e.Address, sandboxAddress+"/") || e.Platform != "sandbox" {
					t.Errorf("%s is at %s", l.Name, e.Address)
				}
			}
		}
		if l.ID == ids.Derive("sandbox", "brand") {
			hospitals++
			if p := l.Portals[0]; p.ID != ids.Derive("sandbox", "portal") ||
				p.Endpoints[0].ID != ids.Derive("sandbox", "endpoint") || p.Endpoints[0].Address != sandboxAddress+"/fhir" {
				t.Errorf("the seed's portal and endpoint are others than %+v", p)
			}
		}
	}
	if hospitals != 1 {
		t.Errorf("%d institutions are the seed's", hospitals)
	}
}

func TestVendorSandboxURLsMatchPlatformProfiles(t *testing.T) {
	t.Parallel()
	list := shipped.Sandbox.Lists(sandboxAddress)[1]
	all := read(t, list)
	if len(all) < 5 {
		t.Errorf("%d vendors", len(all))
	}
	for _, l := range all {
		e := l.Portals[0].Endpoints[0]
		profile, err := platform.Find(e.Platform)
		if err != nil || !strings.HasSuffix(l.Name, " sandbox") || l.Website == "" ||
			!strings.HasPrefix(e.Address, "https://") {
			t.Errorf("%s, documented at %q, is at %s: %v", l.Name, l.Website, e.Address, err)
		}
		// soarian is excluded because its list covers the platform's other product
		if known := profile.Sandbox.FHIRBase; known != "" && known != e.Address && l.Key != "soarian" {
			t.Errorf("%s is at %s, its platform says %s", l.Name, e.Address, known)
		}
	}
}

// everyNth is the interval at which tests sample the rows of the large list. The soak test doesn't sample: it reads
// every row.
const everyNth = 5

func TestShippedListsArePublishedWithoutOperatorApproval(t *testing.T) {
	t.Parallel()
	platforms, err := platform.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	in := compose.Input{
		Mode: "test", Now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC),
		Platform: func(base string) string {
			if strings.HasPrefix(base, sandboxAddress+"/") {
				return "sandbox"
			}
			return platforms.AtHost(base)
		},
	}
	choice, least, nth := shipped.US, 35_000, 1
	switch {
	case testing.Short():
		choice, least = shipped.Sandbox, 15
	case os.Getenv("RECORDBRIDGE_SOAK") == "":
		least, nth = least/everyNth, everyNth
	}
	for _, list := range choice.Lists(sandboxAddress) {
		of, rows := compose.List{Source: list.ID, Priority: list.Rank(), Platform: list.Platform}, 0
		_, err := listing.Read(t.Context(), list.Format, list.Body, func(l listing.Listing) error {
			if rows++; list.ID != us.Source || rows%nth == 0 {
				of.Listings = append(of.Listings, l)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		in.Lists = append(in.Lists, of)
	}
	made, report := compose.Compose(in)
	if len(report.Waiting) > 0 {
		t.Errorf("%d servers of the shipped lists wait, the first is %+v", len(report.Waiting), report.Waiting[0])
	}
	if report.Brands.Live < least {
		t.Errorf("%d brands of %d listings can be found", report.Brands.Live, report.Listings)
	}
	for _, list := range in.Lists[:2] {
		for _, l := range list.Listings {
			for _, e := range made.Endpoints {
				if said := l.Portals[0].Endpoints[0]; said.Address == e.FHIRBase && said.Platform != e.PlatformType {
					t.Errorf("%s is of platform %s, and published as %s", said.Address, said.Platform, e.PlatformType)
				}
			}
		}
	}
}

func TestParseChoiceErrorListsValidChoices(t *testing.T) {
	t.Parallel()
	if choice, err := shipped.ParseChoice("mars"); err == nil || !strings.Contains(err.Error(), "none sandbox us") {
		t.Errorf("got %s, %v", choice, err)
	}
	for text, lists := range map[string]int{"none": 0, "sandbox": 2, "us": 3} {
		if choice, err := shipped.ParseChoice(text); err != nil || len(choice.Lists(sandboxAddress)) != lists {
			t.Errorf("%s: %v, %d lists", text, err, len(choice.Lists(sandboxAddress)))
		}
	}
}
