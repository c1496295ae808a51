package compose_test

import (
	"testing"

	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/listing"
)

func TestComposeReadsPlatformFromURL(t *testing.T) {
	t.Parallel()
	in := input(compose.List{
		Source: "one", Platform: "epic",
		Listings: []listing.Listing{at("Odo Clinic", "https://a.cerner.example/r4")},
	},
		list("two", at("Vela Clinic", "https://b.cerner.example/r4"), at("Crane Clinic", "https://c.example/r4")))
	in.Platform = func(base string) string {
		return map[string]string{"https://a.cerner.example/r4": "cerner", "https://b.cerner.example/r4": "cerner"}[base]
	}
	c, _ := made(t, in)
	for name, want := range map[string]string{
		"Odo Clinic": "cerner", "Vela Clinic": "cerner",
		"Crane Clinic": compose.Generic,
	} {
		if b := only(t, c, name); b.PlatformType != want || endpointsOf(c, b)[0].PlatformType != want {
			t.Errorf("%s is of %s, want %s", name, b.PlatformType, want)
		}
	}
}
