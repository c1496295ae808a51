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

// reach checks the URL and requests its SMART configuration. It reports whether a server responds.
func (t *discovery) reach(ctx context.Context) bool {
	e := t.endpoint
	if err := operator.CheckBase(t.BaseURL, e.FHIRBase, e.Mode); err != nil {
		t.add(Address, Failed, exchange{}, fault.Of(err).Public,
			"Ask the health system for the address of its FHIR R4 server.")
		return false
	}
	if e.Status != catalog.EndpointActive {
		t.add(Address, Warning, exchange{},
			"The endpoint is not active: no patient can start here, whatever else is found.", "")
	}
	stated, err := smart.ReadStated(ctx, t.web, e.FHIRBase)
	t.asked, t.stated, t.isStated = t.web.last, stated, err == nil
	if found, do, ok := unanswered(err); ok {
		t.add(Address, Failed, t.asked, found, do)
		return false
	}
	t.add(Address, OK, t.asked, "A server answers there.", "")
	return true
}

// discover finds the authorization server as a sign-in does and checks the discovery. It reports whether there is one.
func (t *discovery) discover(ctx context.Context) bool {
	var err error
	t.authority, err = t.authorizer.Discover(ctx, t.endpoint.FHIRBase)
	asked := t.asked
	switch {
	case t.isStated && err != nil && refusesS256(t.stated):
		t.add(Discovery, OK, asked, "The SMART configuration can be read.", "")
		t.checkPKCE()
		return false
	case t.isStated && err != nil:
		t.add(Discovery, Failed, asked,
			"The SMART configuration names no authorization or token endpoint that can be used. "+t.flaws(),
			"Ask the health system to name both by public https addresses.")
		return false
	case err != nil:
		t.add(Discovery, Failed, asked, "There is no SMART configuration: "+described(asked)+
			". The CapabilityStatement names no endpoints either.",
			"Ask the health system for the FHIR base below which .well-known/smart-configuration is, or whether its server "+
				"supports SMART App Launch.")
		return false
	case !t.isStated:
		t.add(Discovery, Warning, asked, "There is no SMART configuration: "+described(asked)+
			". The CapabilityStatement names the endpoints instead, and says less.",
			"Patients can connect, without iss, keys of id_tokens and a list of scopes. Ask the health system for a SMART "+
				"configuration.")
	default:
		t.checkConfiguration(asked)
	}
	t.checkPKCE()
	t.checkGrants()
	t.checkCapabilities()
	return true
}

// checkConfiguration reports oddities of a usable configuration.
func (t *discovery) checkConfiguration(asked exchange) {
	kind, _, err := mime.ParseMediaType(asked.mediaType)
	isJSON := err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
	if !isJSON {
		t.add(Discovery, Warning, asked, fmt.Sprintf(
			"The SMART configuration is not sent as JSON, but as %s; it is read all the same.", plain(asked.mediaType)),
			"Tell the health system: other apps may not read it.")
	}
	if flaws := t.flaws(); flaws != "" {
		t.add(Discovery, Warning, asked, flaws, "Tell the health system. What is missing or not used is done without.")
	}
	if isJSON && t.flaws() == "" {
		t.add(Discovery, OK, asked, "The SMART configuration has what SMART App Launch 2.2 asks for.", "")
	}
}

// flaws describes the members that a configuration lacks and those that are not used.
func (t *discovery) flaws() string {
	var said []string
	if len(t.stated.Absent) > 0 {
		said = append(said, "Missing: "+listed(t.stated.Absent)+".")
	}
	if len(t.stated.Unused) > 0 {
		said = append(said, "Named, but not used, since the address is malformed, not https, not public, or would be shown "+
			"tokens at an origin "+
			"other than the token endpoint's: "+listed(t.stated.Unused)+".")
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
			", and not S256. Nobody is sent to such a server.",
			"Ask the health system to support S256 (SMART App Launch 2.2 requires it).")
	case len(t.stated.ChallengeMethods) == 0:
		t.add(PKCE, Warning, exchange{},
			"Discovery does not say that challenges (PKCE) are checked. One is sent all the same, unless the platform's "+
				"profile knows that it is refused.", "")
	default:
		t.add(PKCE, OK, exchange{}, "S256 challenges are checked.", "")
	}
}

func (t *discovery) checkGrants() {
	switch {
	case len(t.stated.Grants) == 0:
		t.skip(GrantTypes, "Discovery lists no grant types.")
	case !slices.Contains(t.stated.Grants, "authorization_code"):
		t.add(GrantTypes, Warning, exchange{}, "Discovery lists the grant types "+listed(t.stated.Grants)+
			", and not authorization_code, by which patients sign in.",
			"Ask the health system whether this server is the one for patients' apps.")
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
		{"launch-standalone", "patients may not be able to begin outside the portal"},
		{"context-standalone-patient", "the answer may not say who the patient is"},
		{"permission-patient", "scopes of a patient may be refused"},
		{"permission-offline", "there may be no refresh tokens, so that a connection ends with its access token"},
	} {
		if !slices.Contains(t.stated.Capabilities, wanted.name) {
			lacking = append(lacking, wanted.name+" ("+wanted.without+")")
		}
	}
	if len(lacking) > 0 {
		t.add(Capabilities, Warning, exchange{}, "Discovery does not list "+strings.Join(lacking, ", ")+".",
			"Ask the health system which of them its server for patients' apps has.")
		return
	}
	t.add(Capabilities, OK, exchange{}, "A standalone launch of a patient's app with offline access is listed.", "")
}
