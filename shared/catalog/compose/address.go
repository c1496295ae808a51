package compose

import (
	"net/netip"
	"net/url"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/fhir"
	"recordbridge/shared/words/ids"
)

type server struct {
	base    string // base URL without a trailing slash; determines id
	id      string // endpoint's ID, unless a list specifies one
	host    string
	origin  string // host in the form shown to operators (catalog.Host)
	tenant  string // host and path without the FHIR release, so that a server's DSTU2 and R4 URLs match
	code    string // last distinctive path segment, often the vendor's customer number
	isGiven bool   // whether code looks like a vendor-assigned number rather than a word
	release string // FHIR release, if the path contains it
	known   string // platform whose profile contains the host; may be empty
	isOpen  bool   // whether the server is publicly reachable and secure enough for the mode
}

// readServer parses a FHIR server's URL (docs/reference/deviations.md, "Connecting"). ok is false if the URL can't be a
// FHIR server's.
func readServer(mode, address string) (s server, ok bool) {
	address = strings.TrimSpace(address)
	if scheme, rest, found := strings.Cut(address, "://"); found {
		host, path, _ := strings.Cut(rest, "/")
		address = scheme + "://" + host + "/" + withoutDoubleSlashes(path)
	}
	base, err := fhir.ParseBase(address)
	if err != nil {
		return server{}, false
	}
	s.base = base.String()
	s.id = ids.Derive("endpoint", mode, s.base)
	parsed, err := url.Parse(s.base)
	if err != nil {
		return server{}, false
	}
	s.host, s.origin = parsed.Host, catalog.Host(s.base)
	s.isOpen = mode != "live" || parsed.Scheme == "https" && isPublic(parsed.Hostname())
	s.readPath(parsed.Path)
	return s, true
}

func withoutDoubleSlashes(path string) string {
	return strings.Join(strings.FieldsFunc(path, func(c rune) bool { return c == '/' }), "/")
}

func (s *server) readPath(path string) {
	s.tenant = s.host
	for written := range strings.SplitSeq(path, "/") {
		part := strings.ToLower(written)
		release, isRelease := map[string]string{
			"dstu2": releaseDSTU2, "r2": releaseDSTU2, "stu3": releaseSTU3, "dstu3": releaseSTU3, "r3": releaseSTU3,
			"r4": releaseR4, "r4b": "4.3.0", "r5": "5.0.0",
		}[part]
		switch {
		case isRelease:
			s.release = release
		case isCommonPart(part):
		default:
			s.tenant += "/" + part
			s.code, s.isGiven = part, strings.ContainsAny(part, "0123456789") || written == strings.ToUpper(written)
		}
	}
}

// FHIR releases that appear in URLs (FHIR R4, CapabilityStatement.fhirVersion).
const (
	releaseDSTU2 = "1.0.2"
	releaseSTU3  = "3.0.2"
	releaseR4    = "4.0.1"
)

// hasNumber reports whether the code is vendor-assigned and long enough to be unique.
func (s *server) hasNumber() bool { return s.isGiven && len(s.code) >= minNumber }

// minNumber is the minimum length of a code that is considered unique.
const minNumber = 12

// isCommonPart reports whether a path segment is too common to distinguish servers.
func isCommonPart(part string) bool {
	switch part {
	case "", "api", "fhir", "fhirroute", "open", "v1", "v2", "v3", "v4", "argonaut", "uscore", "rest", "baser4",
		"metadata", "public", "patient", "prod", "fhirserver":
		return true
	}
	return false
}

// isPublic reports whether a host may be publicly reachable.
func isPublic(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.IsGlobalUnicast() && !address.IsPrivate()
	}
	dot := strings.LastIndexByte(host, '.')
	if dot <= 0 || dot == len(host)-1 {
		return false
	}
	switch host[dot+1:] {
	case "local", "localhost", "internal", "corp", "lan", "home", "intranet", "private", "invalid", "test":
		return false
	}
	return true
}

// isOld reports whether a FHIR release is unsupported because it is older than R4.
func isOld(release string) bool {
	release = strings.ToLower(strings.TrimSpace(release))
	switch {
	case release == "", strings.HasPrefix(release, "4"), release == "r4", release == "r4b":
		return false
	}
	return true
}
