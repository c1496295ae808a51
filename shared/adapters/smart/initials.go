package smart

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/fhir"
)

// humanName is the part of a FHIR HumanName from which initials are derived. family is a string in R4 and a list in
// DSTU2.
type humanName struct {
	Use    string          `json:"use"`
	Given  []string        `json:"given"`
	Family json.RawMessage `json:"family"`
}

// Initials implements flow.Exchanger. Initials reads the Patient resource once, following redirects only under the
// base.
func (p Portal) Initials(ctx context.Context, set tokens.Set) string {
	base, err := fhir.ParseBase(set.FHIRBase)
	granted := fhir.ParseScopes(set.Scope)
	if err != nil || granted.Any() && !granted.Allows("Patient", fhir.Read) {
		return ""
	}
	patientID := set.PatientID.Reveal()
	address := base.Join("Patient", patientID)
	body, err := fetcher{doer: p.doer, base: base}.get(ctx, address, acceptFHIR, maxExtra, set.AccessToken)
	var patient struct {
		ID    string      `json:"id"`
		Names []humanName `json:"name"`
	}
	if err != nil || json.Unmarshal(body, &patient) != nil || patient.ID != patientID {
		return ""
	}
	return initialsOf(patient.Names)
}

// initialsOf returns the initials of the patient's current name: the official name, or else the usual name, or else the
// first listed name without a use code. Former, temporary and anonymous names and nicknames are ignored.
func initialsOf(names []humanName) string {
	for _, use := range [...]string{"official", "usual", ""} {
		i := slices.IndexFunc(names, func(n humanName) bool { return n.Use == use && n.initials() != "" })
		if i >= 0 {
			return names[i].initials()
		}
	}
	return ""
}

// initials returns the initials of the first given name and of the family name, each followed by a dot.
func (n humanName) initials() string {
	var family []string
	if json.Unmarshal(n.Family, &family) != nil {
		family = []string{answer{"family": n.Family}.text("family")}
	}
	var out []string
	for _, names := range [...][]string{n.Given, family} {
		if len(names) == 0 {
			continue
		}
		if i := strings.IndexFunc(names[0], unicode.IsLetter); i >= 0 {
			first := []rune(names[0][i:])[0]
			out = append(out, string(unicode.ToUpper(first))+".")
		}
	}
	return strings.Join(out, " ")
}
