package catalog

import (
	"net/url"
	"path"
	"strings"
)

// sandboxPath is the path of the sandbox EHR under the API's base URL. The sandbox is the only health system at the
// service's own origin.
const sandboxPath = "/sandbox"

// OwnURLs returns the URLs of an endpoint and its discovery that point to the service's own host. baseURL is the API's
// base URL. A portal that redirects browsers to the service could open the service's URLs as if the service itself had
// opened them (docs/develop/threats-sign-in.md, "Start values"). The sandbox's endpoint may use the sandbox's URLs in
// test mode.
func OwnURLs(baseURL string, e Endpoint, named Addresses) []Departure {
	sandbox := IsSandbox(baseURL, e.Mode, e.FHIRBase)
	var found []Departure
	for _, place := range append([]Departure{{Role: "FHIR base", To: e.FHIRBase}}, named.named()...) {
		ofSandbox := sandbox && isBelow(place.To, baseURL+sandboxPath)
		if sameHost(place.To, baseURL) && !ofSandbox {
			place.To = Origin(place.To)
			found = append(found, place)
		}
	}
	return found
}

// IsSandbox reports whether a FHIR base belongs to the service's own sandbox. baseURL is the API's base URL.
func IsSandbox(baseURL, mode, fhirBase string) bool {
	return mode == "test" && isBelow(fhirBase, baseURL+sandboxPath)
}

// sameHost reports whether two URLs point to the same host, even if they spell the host differently.
func sameHost(one, other string) bool {
	a, errA := url.Parse(one)
	b, errB := url.Parse(other)
	return errA == nil && errB == nil && a.Host != "" && hostOf(a) == hostOf(b)
}

func hostOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") + ":" + port
}

// isBelow reports whether a URL equals root or is below root under any interpretation of the URL's path.
func isBelow(address, root string) bool {
	a, errA := url.Parse(address)
	r, errR := url.Parse(root)
	if errA != nil || errR != nil || Origin(address) != Origin(root) || a.EscapedPath() != a.Path ||
		strings.Contains(a.Path, `\`) {
		return false
	}
	return path.Clean(a.Path) == strings.TrimSuffix(a.Path, "/") && strings.HasPrefix(a.Path+"/", r.Path+"/")
}
