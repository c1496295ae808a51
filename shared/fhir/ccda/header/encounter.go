package header

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/encounter"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// documentConsent creates a Consent for an authorization in the header (CDA R2, authorization) that permits disclosure
// of the document.
func documentConsent(c *statement.Context, n *cda.Node) {
	if n == nil {
		return
	}
	c.Add(&r4.Consent{
		Header: c.Emit.Header("Consent", n), Identifier: datatype.Identifiers(n), Status: c.ConsentStatus(n),
		Patient: c.Patient,
		Scope: r4.Concept(
			"http://terminology.hl7.org/CodeSystem/consentscope", "patient-privacy", "Privacy Consent",
		),
		Category:   []r4.CodeableConcept{*c.Read.ConceptOr(n.At("code"))},
		PolicyRule: &r4.CodeableConcept{Text: "As the consent says"},
	}, n)
}

// readEncompassing creates the document's Encounter with its location and participants (C-CDA on FHIR, "Encounters":
// encompassingEncounter). An entry with the same id is merged into it.
func readEncompassing(c *statement.Context, n *cda.Node) {
	if n == nil {
		return
	}
	if flavor := n.Attr("nullFlavor"); flavor != "" {
		c.Emit.DropUnstated(n.Name, cda.NullReason(flavor))
		return
	}
	e := encounter.New(c, n)
	for p := range n.Each("responsibleParty", "encounterParticipant") {
		kind := "ATND"
		if p.Name == "responsibleParty" {
			kind = "RESP"
		}
		encounter.AddParticipant(c, e, p, kind)
	}
	if at := c.Make.Facility(n.At("location", "healthCareFacility")); at != nil {
		e.Location = []r4.EncounterLocation{{Location: at}}
		e.Provider = c.Make.Organization(n.At("location", "healthCareFacility", "serviceProviderOrganization"))
	}
	c.Encounter = c.Emit.AddEntity(e)
}
