package operator

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/fhir"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Survey holds the current, untrusted metadata of a health system's server.
type Survey struct {
	Addresses  catalog.Addresses
	Methods    []string // client authentication methods listed by discovery
	Algorithms []string
	Software   string // software name from the CapabilityStatement, if any
}

// Servers reads metadata from health systems' servers. survey.Servers implements it.
type Servers interface {
	// Survey reads a server's discovery document and software name, given its FHIR base URL. It returns fault.Upstream
	// or fault.Unavailable if discovery fails.
	Survey(ctx context.Context, base string) (Survey, error)
}

// Offline implements Servers for an operator without network access.
type Offline struct{}

// Survey always returns fault.Unavailable.
func (Offline) Survey(context.Context, string) (Survey, error) {
	return Survey{}, fault.New(
		fault.Unavailable, fault.CodeUnavailable, "This command was started without network access.",
	)
}

func look(ctx context.Context, servers Servers, base string) (Survey, error) {
	seen, err := servers.Survey(ctx, base)
	if err != nil {
		return Survey{}, fmt.Errorf("discovery of %s: %w", base, err)
	}
	return seen, nil
}

// platformOf returns the platform that the operator named or, if named is empty, the detected platform. The result
// because explains the choice. The note result is set if the named and detected platforms differ.
func platformOf(base, named string, seen Survey) (profile platform.Profile, because, note string, err error) {
	platforms, err := platform.NewRegistry()
	if err != nil {
		return platform.Profile{}, "", "", err
	}
	a := seen.Addresses
	shown, because := platforms.Detect(platform.Seen{
		FHIRBase:  base,
		Addresses: []string{a.Authorization, a.Token, a.Issuer}, Software: seen.Software,
	})
	if named == "" {
		return shown, because, "", nil
	}
	profile, err = platform.Find(strings.ToLower(named))
	if err != nil {
		return platform.Profile{}, "", "", fault.BadRequest(err.Error()).About("platform")
	}
	if profile.ID != shown.ID {
		note = fmt.Sprintf("-platform %s was given; the detected platform would be %s: "+
			"%s.", profile.ID, shown.ID, because)
	}
	return profile, "set by -platform", note, nil
}

// CheckBase rejects a FHIR base URL to which patients must not be sent. The service argument is the service API's base
// URL.
func CheckBase(service, base, mode string) error {
	u, err := url.Parse(base)
	switch {
	case base == "":
		return fault.BadRequest("An endpoint needs a FHIR base URL.").About("fhir-base")
	case err != nil || u.Host == "":
		return fault.BadRequest(
			"The FHIR base must be an absolute URL, such as https://fhir.hospital.example/r4.").About("fhir-base")
	case u.Scheme != "https" && u.Scheme != "http":
		return fault.BadRequest(fmt.Sprintf("The FHIR base has the scheme %q; it must be https.",
			u.Scheme)).About("fhir-base")
	case u.User != nil:
		return fault.BadRequest("The FHIR base contains a user name or password. Remove them.").About("fhir-base")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(base, "#"):
		return fault.BadRequest(
			"The FHIR base has a query or fragment. Remove everything from the ? or #.").About("fhir-base")
	case u.Scheme == "http" && mode == string(org.Live):
		return fault.BadRequest("The FHIR base uses http; live mode requires https.").About("fhir-base")
	}
	if _, err := fhir.ParseBase(base); err != nil {
		return fault.BadRequest("The FHIR base has a path that servers interpret differently. Remove //, ., .. and " +
			"encoded characters.").About("fhir-base")
	}
	if len(catalog.OwnURLs(service, catalog.Endpoint{FHIRBase: base, Mode: mode}, catalog.Addresses{})) > 0 {
		return fault.BadRequest("The FHIR base is a URL of this service. Only its sandbox can be an endpoint, in " +
			"test mode.").About("fhir-base")
	}
	return nil
}

// checkForeign rejects a discovery document that contains any of Recordbridge's own URLs.
func (o Endpoints) checkForeign(e catalog.Endpoint, named catalog.Addresses) error {
	for _, d := range catalog.OwnURLs(o.baseURL, e, named) {
		return fault.New(fault.Upstream, fault.CodeInvalidRequest,
			fmt.Sprintf("Discovery names a URL of this service, %s for %s; no health system has a reason to do so.",
				d.To, d.Role))
	}
	return nil
}

// Approval lists the discovered URLs that an operator has verified.
type Approval struct {
	Origins []string // origins as returned by catalog.Origin, or any URLs at those origins
	Issuer  *string  // exact issuer; nil if not specified, empty for a server without an issuer
}

// check rejects malformed origins, which would otherwise have no effect.
func (a Approval) check() error {
	for _, named := range a.Origins {
		if catalog.Origin(named) == "" {
			return fault.BadRequest(fmt.Sprintf("%q is not an origin, such as https://login.hospital.example.",
				named)).About("origin")
		}
	}
	return nil
}

// unnamed returns the departures that the operator has not approved. If an issuer is pinned for the first time,
// approving its origin is sufficient. If an issuer replaces another, the new issuer must be approved by its exact URL.
func (a Approval) unnamed(all []catalog.Departure) []catalog.Departure {
	return slices.DeleteFunc(slices.Clone(all), func(d catalog.Departure) bool {
		if d.Role == "issuer" && (d.From != "" || d.To == "") {
			return a.Issuer != nil && *a.Issuer == d.To
		}
		exactly := d.Role == "issuer" && a.Issuer != nil && *a.Issuer == d.To
		return exactly || slices.ContainsFunc(a.Origins, func(named string) bool {
			origin := catalog.Origin(named)
			return origin != "" && origin == catalog.Origin(d.To)
		})
	})
}

// unapproved returns an error that reports departures not approved by the operator. The error lists the ctl flags that
// approve the departures.
func unapproved(all []catalog.Departure) error {
	return fault.BadRequest("Discovery names URLs that have not been approved.").Because(fmt.Errorf(
		"nothing was stored: discovery names origins that are not the FHIR base's, the vendor's or approved:%s\nask "+
			"the institution whether they are its own, then repeat the command with: %s", listed(all), flags(all)))
}

// flags returns the ctl flags that approve the given departures.
func flags(all []catalog.Departure) string {
	var words []string
	for _, d := range all {
		word := "-origin " + d.To
		if d.Role == "issuer" {
			word = fmt.Sprintf("-issuer %q", d.To)
		}
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

func listed(all []catalog.Departure) string {
	var text strings.Builder
	for _, d := range all {
		fmt.Fprintf(&text, "\n  %-13s  %s -> %s", d.Role, cmp.Or(d.From, "(none)"), cmp.Or(d.To, "(none)"))
	}
	return text.String()
}
