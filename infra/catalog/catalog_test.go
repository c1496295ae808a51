package catalog_test

import (
	"testing"
	"time"

	"recordbridge/infra/catalog"
	endpoint "recordbridge/shared/catalog"
	"recordbridge/shared/smart/platform"
)

func TestThePublishedListsCouldBeSetAsTheyStand(t *testing.T) {
	t.Parallel()
	known, err := catalog.Sources()
	if err != nil {
		t.Fatal(err)
	}
	platforms, err := platform.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	fetched := 0
	for _, s := range known {
		if s.URL != "" {
			fetched++
			if s.License == "" {
				t.Errorf("%s: says nothing of how the list may be used", s.ID)
			}
		}
		if (s.URL != "") != (s.Every >= 24*time.Hour) {
			t.Errorf("%s: is fetched from %q every %v", s.ID, s.URL, s.Every)
		}
		if s.Mode != "live" {
			t.Errorf("%s: real institutions are not for mode %s", s.ID, s.Mode)
		}
		if got := platforms.Of(endpoint.Endpoint{PlatformType: s.Platform}).ID; s.Platform != "" && got != s.Platform {
			t.Errorf("%s: there is no platform %s", s.ID, s.Platform)
		}
	}
	if fetched < 10 {
		t.Errorf("%d lists are fetched", fetched)
	}
}
