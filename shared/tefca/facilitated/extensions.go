package facilitated

import (
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/facilitated/udap"
)

// The authorization extensions that can be given, and the purpose that they name.
const (
	extensionB2B = "hl7-b2b"   // the guide, "B2B Authorization Extension Object"
	extensionIAS = "tefca_ias" // RCE, SOP "Facilitated FHIR Implementation" 2.0 (draft), table 4
	purpose      = "urn:oid:2.16.840.1.113883.3.7204.1.5.2.1#T-IAS"
	purposeIAS   = "T-IAS" // the fixed value of tefca_ias
)

// Versions of the SOP (Place.SOP). Version 1.0 requires purpose_of_use in tefca_ias; version 2.0 has no such member.
const (
	sop1 = "1.0"
	sop2 = "2.0"
)

// errExtensions says that a facility does not know tefca_ias, so that nobody's identity is shown to it, or
// wants what we do not have.
var errExtensions = fmt.Errorf("facilitated: not the authorization extensions that can be given: %w", tefca.ErrRefused)

// satisfies reports whether a server can be given what it wants.
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

// ias has no consent_reference, which is optional: there is no place of ours from which others could read a consent.
type ias struct {
	Version       string        `json:"version"`
	Purpose       string        `json:"purpose_of_use,omitempty"` // only in SOP 1.0
	User          relatedPerson `json:"user_information"`
	Patient       patient       `json:"patient_information"`
	ConsentPolicy []string      `json:"consent_policy"`
	IDToken       string        `json:"id_token"`
}

// extensions say for whom and for what a token is asked: the identity as its provider has signed it, and the same
// person in words of FHIR. hl7-b2b is left out only where the server does not know it.
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
