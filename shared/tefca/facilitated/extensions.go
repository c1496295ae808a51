package facilitated

import (
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/facilitated/udap"
)

// Supported authorization extensions and their purposes of use.
const (
	extensionB2B = "hl7-b2b"   // specified in the guide, "B2B Authorization Extension Object"
	extensionIAS = "tefca_ias" // specified in RCE, SOP "Facilitated FHIR Implementation" 2.0 (draft), table 4
	purpose      = "urn:oid:2.16.840.1.113883.3.7204.1.5.2.1#T-IAS"
	purposeIAS   = "T-IAS" // the only value that tefca_ias allows
)

// Versions of the SOP, as in Place.SOP. Version 1.0 requires purpose_of_use in tefca_ias; version 2.0 removed
// purpose_of_use.
const (
	sop1 = "1.0"
	sop2 = "2.0"
)

// errExtensions means that the service can't send an identity to a facility. The facility doesn't support tefca_ias, or
// requires an extension that the service doesn't support.
var errExtensions = fmt.Errorf("facilitated: not the authorization extensions that can be given: %w", tefca.ErrRefused)

// satisfies reports whether the network supports all extensions that a server requires.
func (*Network) satisfies(server udap.Server) bool {
	others := slices.ContainsFunc(server.Required,
		func(name string) bool { return name != extensionB2B && name != extensionIAS })
	return slices.Contains(server.Extensions, extensionIAS) && !others
}

type b2b struct {
	Version          string   `json:"version"`
	SubjectName      string   `json:"subject_name"`
	OrganizationName string   `json:"organization_name,omitempty"`
	OrganizationID   string   `json:"organization_id"`
	Purpose          []string `json:"purpose_of_use"`
}

// ias is the tefca_ias extension. The optional consent_reference is omitted, because the service has no URL at which
// others could read a consent.
type ias struct {
	Version       string        `json:"version"`
	Purpose       string        `json:"purpose_of_use,omitempty"` // used only in version 1.0 of the SOP
	User          relatedPerson `json:"user_information"`
	Patient       patient       `json:"patient_information"`
	ConsentPolicy []string      `json:"consent_policy"`
	IDToken       string        `json:"id_token"`
}

// extensions returns the authorization extensions for a token request. The extensions contain the identity as signed by
// its provider, and the person as a FHIR resource. hl7-b2b is omitted only if the server doesn't support it.
func (n *Network) extensions(at Place, server udap.Server, who tefca.Assertion) map[string]any {
	stated := ""
	if at.SOP == sop1 {
		stated = purposeIAS
	}
	all := map[string]any{extensionIAS: ias{
		Version: "1", Purpose: stated, User: userOf(who.Person), Patient: patientOf(who),
		ConsentPolicy: n.config.ConsentPolicy, IDToken: who.Token.Reveal(),
	}}
	if slices.Contains(server.Extensions, extensionB2B) || slices.Contains(server.Required, extensionB2B) {
		all[extensionB2B] = b2b{
			Version: "1", SubjectName: fullName(who.Person), OrganizationName: n.config.OrganizationName,
			OrganizationID: n.config.OrganizationID, Purpose: []string{purpose},
		}
	}
	return all
}

func fullName(who tefca.Person) string {
	return strings.Join(strings.Fields(who.Given+" "+who.Middle+" "+who.Family), " ")
}
