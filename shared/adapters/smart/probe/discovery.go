package probe

import (
	"context"
	"fmt"
	"mime"
	"slices"
	"strings"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
)

// reach validates the URL and requests the server's SMART configuration. reach reports whether a server responded.
func (t *discovery) reach(ctx context.Context) bool {
	e := t.endpoint
	if err := operator.CheckBase(t.BaseURL, e.FHIRBase, e.Mode); err != nil {
		t.add(Address, Failed, exchange{}, fault.Of(err).Public,
			"Ask the health system for the URL of its FHIR R4 server.")
		return false
	}
	if e.Status != catalog.EndpointActive {
		t.add(Address, Warning, exchange{},
			"The endpoint is not active, so patients can't connect, whatever the other checks report.", "")
	}
	stated, err := smart.ReadStated(ctx, t.web, e.FHIRBase)
	t.asked, t.stated, t.isStated = t.web.last, stated, err == nil
	if found, do, ok := unanswered(err); ok {
		t.add(Address, Failed, t.asked, found, do)
		return false
	}
	t.add(Address, OK, t.asked, "The server responds.", "")
	return true
}

// discover finds the authorization server as a sign-in does and checks the result. It reports whether discovery
// succeeded.
func (t *discovery) discover(ctx context.Context) bool {
	var err error
	t.authority, err = t.authorizer.Discover(ctx, t.endpoint.FHIRBase)
	asked := t.asked
	switch {
	case t.isStated && err != nil && refusesS256(t.stated):
		t.add(Discovery, OK, asked, "The SMART configuration is readable.", "")
		t.checkPKCE()
		return false
	case t.isStated && err != nil:
		t.add(Discovery, Failed, asked,
			"The SMART configuration names no usable authorization or token endpoint. "+t.flaws(),
			"Ask the health system to publish both as public https URLs.")
		return false
	case err != nil:
		t.add(Discovery, Failed, asked, "There is no SMART configuration: "+described(asked)+
			". The CapabilityStatement lists no endpoints either.",
			"Ask the health system for the FHIR base URL that serves .well-known/smart-configuration, and whether "+
				"its server supports SMART App Launch.")
		return false
	case !t.isStated:
		t.add(Discovery, Warning, asked, "There is no SMART configuration: "+described(asked)+
			". The CapabilityStatement lists the endpoints instead, but with fewer details.",
			"Patients can connect, but without iss, id_token keys and a list of scopes. Ask the health system for a "+
				"SMART configuration.")
	default:
		t.checkConfiguration(asked)
	}
	t.checkPKCE()
	t.checkGrants()
	t.checkCapabilities()
	return true
}

// checkConfiguration reports anomalies in a usable configuration.
func (t *discovery) checkConfiguration(asked exchange) {
	kind, _, err := mime.ParseMediaType(asked.mediaType)
	isJSON := err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
	if !isJSON {
		t.add(Discovery, Warning, asked, fmt.Sprintf(
			"The SMART configuration's content type is %s instead of JSON; we accept it.", plain(asked.mediaType)),
			"Tell the health system: other apps may reject it.")
	}
	if flaws := t.flaws(); flaws != "" {
		t.add(Discovery, Warning, asked, flaws, "Tell the health system. We work around what is missing or unused.")
	}
	if isJSON && t.flaws() == "" {
		t.add(Discovery, OK, asked, "The SMART configuration has everything that SMART App Launch 2.2 requires.", "")
	}
}

// flaws describes a configuration's missing and ignored members.
func (t *discovery) flaws() string {
	var said []string
	if len(t.stated.Absent) > 0 {
		said = append(said, "Missing: "+listed(t.stated.Absent)+".")
	}
	if len(t.stated.Unused) > 0 {
		said = append(said, "Listed but not used, because the URL is malformed, not https, not public, or would "+
			"receive tokens at an origin other than the token endpoint's: "+listed(t.stated.Unused)+".")
	}
	return strings.Join(said, " ")
}

func refusesS256(s smart.Stated) bool {
	return len(s.ChallengeMethods) > 0 && !slices.Contains(s.ChallengeMethods, "S256")
}

func (t *discovery) checkPKCE() {
	switch {
	case refusesS256(t.stated):
		t.add(PKCE, Failed, exchange{}, "Discovery lists the challenge methods "+listed(t.stated.ChallengeMethods)+
			", but not S256. Patients can't be sent to such a server.",
			"Ask the health system to support S256 (SMART App Launch 2.2 requires it).")
	case len(t.stated.ChallengeMethods) == 0:
		t.add(PKCE, Warning, exchange{},
			"Discovery doesn't advertise PKCE. We send a challenge anyway, unless the platform's profile says the "+
				"server rejects it.", "")
	default:
		t.add(PKCE, OK, exchange{}, "S256 challenges are supported.", "")
	}
}

func (t *discovery) checkGrants() {
	switch {
	case len(t.stated.Grants) == 0:
		t.skip(GrantTypes, "Discovery lists no grant types.")
	case !slices.Contains(t.stated.Grants, "authorization_code"):
		t.add(GrantTypes, Warning, exchange{}, "Discovery lists the grant types "+listed(t.stated.Grants)+
			", but not authorization_code, which patients need to sign in.",
			"Ask the health system whether this server is for patient-facing apps.")
	default:
		t.add(GrantTypes, OK, exchange{}, "Discovery lists "+listed(t.stated.Grants)+".", "")
	}
}

func (t *discovery) checkCapabilities() {
	if len(t.stated.Capabilities) == 0 {
		t.skip(Capabilities, "Discovery lists no capabilities.")
		return
	}
	var lacking []string
	for _, wanted := range [...]struct{ name, without string }{
		{"launch-standalone", "patients may be unable to start outside the portal"},
		{"context-standalone-patient", "the response may not identify the patient"},
		{"permission-patient", "patient scopes may be rejected"},
		{"permission-offline", "there may be no refresh tokens, so a connection ends when its access token expires"},
	} {
		if !slices.Contains(t.stated.Capabilities, wanted.name) {
			lacking = append(lacking, wanted.name+" ("+wanted.without+")")
		}
	}
	if len(lacking) > 0 {
		t.add(Capabilities, Warning, exchange{}, "Discovery doesn't list "+strings.Join(lacking, ", ")+".",
			"Ask the health system which capabilities its server for patient-facing apps has.")
		return
	}
	t.add(Capabilities, OK, exchange{}, "Standalone launch of patient-facing apps with offline access is listed.", "")
}
