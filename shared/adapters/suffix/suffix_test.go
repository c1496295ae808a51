package suffix_test

import (
	"testing"

	"recordbridge/shared/adapters/suffix"
)

func TestDomainReturnsRegistrableDomain(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"fhir.hospital.example":   "hospital.example",
		"hospital.example":        "hospital.example",
		"a.b.hospital.co.uk":      "hospital.co.uk",
		"one.azurewebsites.net":   "one.azurewebsites.net", // each subdomain has a different owner
		"x.two.azurewebsites.net": "two.azurewebsites.net",
		"co.uk":                   "co.uk",
		"localhost":               "localhost",
		"":                        "",
	} {
		if got := suffix.Domain(host); got != want {
			t.Errorf("%s is at %s, want %s", host, got, want)
		}
	}
}
