package catalog_test

import (
	"os"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/smart/platform"
)

// known reads sources.yaml, strictly.
func known(t *testing.T) []intake.Source {
	t.Helper()
	file, err := os.Open("sources.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var sources []intake.Source
	reader := yaml.NewDecoder(file)
	reader.KnownFields(true)
	if err := reader.Decode(&sources); err != nil {
		t.Fatal(err)
	}
	return sources
}

func TestThePublishedListsCouldBeSetAsTheyStand(t *testing.T) {
	t.Parallel()
	platforms, err := platform.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	seen, fetched := map[string]bool{}, 0
	for _, s := range known(t) {
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

func TestTheExampleOfAHandKeptListIsRead(t *testing.T) {
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
