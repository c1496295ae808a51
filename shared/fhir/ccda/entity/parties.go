package entity

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
)

// AuthorsOf returns all authors of a statement or section. The narrative of a section without authors is attributed to
// the document's authors.
func (m *Maker) AuthorsOf(n *cda.Node) []r4.Reference {
	if n.Name == "section" && n.At("author") == nil {
		n = m.document.Root
	}
	var list []r4.Reference
	for a := range n.Each("author") {
		who := m.Party(a).As("Practitioner", "PractitionerRole", "Organization", "Device", "Patient", "RelatedPerson")
		if who != nil {
			list = r4.AppendReference(list, *who)
		}
	}
	return list
}

// Party holds the resources of a person, organization or device that participates in a statement. The fields of an
// unknown participant are nil.
type Party struct {
	Practitioner, role, Organization, device, Patient, related *r4.Reference
	Time                                                       string
}

// As returns the party's resource of the first listed type for which it has one, or nil.
func (p Party) As(types ...string) *r4.Reference {
	for _, t := range types {
		var found *r4.Reference
		switch t {
		case "Practitioner":
			found = p.Practitioner
		case "PractitionerRole":
			found = p.role
		case "Organization":
			found = p.Organization
		case "Device":
			found = p.device
		case "Patient":
			found = p.Patient
		case "RelatedPerson":
			found = p.related
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// Author returns the author of a statement or section. The result is the latest of the authors named by the statement
// itself, with the earliest author's time (C-CDA on FHIR, "Problems" and "Allergies": author). If a statement has no
// authors, those of the enclosing concern or organizer apply (same pages: authors of the concern act). The authors of
// the section and the document are named only in the Provenance.
func (m *Maker) Author(n *cda.Node) Party {
	for at := n; at != nil; at = at.Parent {
		if at != n && at.Name != "entryRelationship" && at.Name != "component" && !isWrapper(at) {
			break
		}
		if at.At("author") != nil {
			return m.latestAuthor(at)
		}
	}
	return Party{}
}

// isWrapper reports whether a statement only wraps other statements and names their authors.
func isWrapper(n *cda.Node) bool {
	return n.Name == "organizer" || n.Name == "act" && (cda.CodeOf(n.At("code")) == "CONC" || cda.IsTemplate(n,
		"2.16.840.1.113883.10.20.22.4.3", "2.16.840.1.113883.10.20.1.27", "1.3.6.1.4.1.19376.1.5.3.1.4.5.2", // problems
		"2.16.840.1.113883.10.20.22.4.30", "1.3.6.1.4.1.19376.1.5.3.1.4.5.3", // allergies
		"2.16.840.1.113883.10.20.22.4.132", "2.16.840.1.113883.10.20.22.4.136", // health concern and risk templates
		"2.16.840.1.113883.10.20.22.4.80", "2.16.840.1.113883.10.20.22.4.33", "2.16.840.1.113883.10.20.22.4.34",
		"2.16.840.1.113883.10.20.22.4.51", "2.16.840.1.113883.10.20.22.4.65", // diagnoses
		"2.16.840.1.113883.10.20.22.4.35", "2.16.840.1.113883.10.20.22.4.36", // medications at admission and discharge
	))
}

func (m *Maker) latestAuthor(n *cda.Node) Party {
	var latest Party
	earliest := ""
	for a := range n.Each("author") {
		p := m.Party(a)
		if earliest == "" || p.Time != "" && p.Time < earliest {
			earliest = p.Time
		}
		if latest == (Party{}) || p.Time >= latest.Time {
			latest = p
		}
	}
	latest.Time = earliest
	return latest
}

// Conducted returns a statement's first author. If the statement has no author, it returns the first author of the
// closest enclosing element that has one, up to the document (CDA R2, context conduction). Conducted is used only for
// Provenance.
func (m *Maker) Conducted(n *cda.Node) Party {
	for at := n; at != nil; at = at.Parent {
		switch {
		case cda.IsStatement(at):
			if author := at.At("author"); author != nil {
				return m.Party(author)
			}
		case at.Name == "section" || at.Name == "ClinicalDocument":
			if author := m.authorAround(at); author != nil {
				return m.Party(author)
			}
		}
	}
	return Party{}
}

// authorAround returns the author of a section or document. The result is cached, because thousands of entries may
// share an author.
func (m *Maker) authorAround(n *cda.Node) *cda.Node {
	author, known := m.authors[n.Number]
	if !known {
		author = n.At("author")
		m.authors[n.Number] = author
	}
	return author
}

// OwnAuthor is like Author but ignores enclosing elements.
func (m *Maker) OwnAuthor(n *cda.Node) Party { return m.Party(n.At("author")) }

// Performers returns a statement's performers. If a statement has no performers, it returns those of the enclosing
// organizer.
func (m *Maker) Performers(n *cda.Node) []Party {
	var list []Party
	for p := range n.Each("performer") {
		list = append(list, m.Party(p))
	}
	if around := cda.Outer(n); list == nil && around != nil && around.Name == "organizer" {
		return m.Performers(around)
	}
	return list
}

// Party converts a participation (author, performer, informant, participant …) once and caches the result.
func (m *Maker) Party(n *cda.Node) Party {
	if n == nil {
		return Party{}
	}
	if known, ok := m.parties[n.Number]; ok {
		return known
	}
	var p Party
	for role := range n.Each(
		"assignedAuthor", "assignedEntity", "relatedEntity", "associatedEntity", "participantRole", "intendedRecipient",
		"assignedCustodian", "responsibleParty", "assignedPerson", "subject", "encounterParticipant",
	) {
		p = m.roleOf(role)
		break
	}
	p.Time = m.read.Start(n.At("time"))
	m.parties[n.Number] = p
	return p
}

// roleOf converts a role's player. A role that consists of only an id refers to an earlier role.
func (m *Maker) roleOf(role *cda.Node) (p Party) {
	person := cmp.Or(
		role.At("assignedPerson"), role.At("relatedPerson"), role.At("associatedPerson"),
		role.At("informationRecipient"), role.At("playingEntity"),
	)
	device := cmp.Or(role.At("assignedAuthoringDevice"), role.At("playingDevice"))
	place := cmp.Or(
		role.At("representedOrganization"), role.At("scopingOrganization"), role.At("receivedOrganization"),
		role.At("representedCustodianOrganization"),
	)
	p.Organization = m.Organization(place)
	names := m.read.HumanNames(person)
	switch {
	case m.IsPatient(role):
		p.Patient = m.patient
	case device != nil:
		p.device = m.software(role, device, p.Organization)
	case names == nil && m.roles[cda.RealID(role)] != (Party{}):
		known := m.roles[cda.RealID(role)]
		known.Organization = cmp.Or(p.Organization, known.Organization)
		return known
	case isPersonal(role):
		p.related = m.RelatedPerson(role, names)
	case names != nil || cda.RealID(role) != "" && place == nil:
		p.Practitioner = m.practitioner(role, names)
		p.role = m.practitionerRole(role, p)
	}
	for id := range role.Each("id") {
		if key := cda.IDKey(id); key != "" && m.roles[key] == (Party{}) && p != (Party{}) {
			m.roles[key] = p
		}
	}
	return p
}

// IsPatient reports whether a role belongs to the patient. A patient can be an author or informant.
func (m *Maker) IsPatient(role *cda.Node) bool {
	for id := range role.Each("id") {
		if key := cda.IDKey(id); key != "" && m.document.PatientIDs[key] {
			return true
		}
	}
	return role.Attr("classCode") == "SELF" || cda.Has(role.At("code"), "SELF", "ONESELF")
}

// relatives lists the codes that senders use for relatives and friends (RoleCode, PersonalRelationshipRoleType).
const relatives = " SPS HUSB WIFE SPOUSE CHILD DAU SON PRN PRNT MTH FTH NMTH NFTH SIB BRO SIS " +
	"DOMPART FAMMEMB FRND NBOR ROOM SIGOTHR GRPRN GRMTH GRFTH AUNT UNCLE COUSN NIECE NEPHEW "

// isPersonal reports whether a role belongs to a relative or friend rather than a professional (RoleClass, RoleCode).
func isPersonal(role *cda.Node) bool {
	if code := role.At("code"); code.Attr("codeSystem") == "2.16.840.1.113883.5.111" &&
		strings.Contains(relatives, " "+cda.CodeOf(code)+" ") {
		return true
	}
	switch role.Attr("classCode") {
	case "PRS", "NOK", "ECON", "CAREGIVER", "GUAR", "GUARD", "AGNT", "CON", "POLHOLD", "COVPTY", "DEP", "SPNSR":
		return role.At("assignedPerson") == nil
	}
	return role.At("relatedPerson") != nil
}

// practitioner creates a Practitioner. A person is identified by id and family name, because an entire practice may
// share one id.
func (m *Maker) practitioner(role *cda.Node, names []r4.HumanName) *r4.Reference {
	var parts []string
	if len(names) > 0 {
		parts = []string{strings.ToLower(cmp.Or(names[0].Family, names[0].Text))}
	}
	p := &r4.Practitioner{
		Header: m.personHeader("Practitioner", role, parts), Identifier: datatype.Identifiers(role), Name: names,
		Telecom: m.read.Telecoms(role), Address: m.read.Addresses(role),
	}
	return named(m.emit.AddEntity(p), names)
}

// personHeader derives the resource's id from the person's NPI, if available, because NPIs are globally unique.
func (m *Maker) personHeader(kind string, role *cda.Node, parts []string) r4.Header {
	for id := range role.Each("id") {
		if npi := id.Attr("extension"); id.Attr("root") == "2.16.840.1.113883.4.6" && npi != "" {
			return m.emit.HeaderWith(kind, emit.Derive(append([]string{kind, "npi", npi}, parts...)...))
		}
	}
	if cda.RealID(role) == "" { // If a person has no usable id, the signing time is not part of the person's identity.
		who := cmp.Or(
			role.At("assignedPerson"), role.At("relatedPerson"), role.At("associatedPerson"), role.At("guardianPerson"),
			role,
		)
		return m.emit.HeaderWith(kind, emit.Derive(append([]string{kind, m.emit.Key, cda.Digest(who)}, parts...)...))
	}
	return m.emit.Entity(kind, role, parts...)
}

// named sets a reference's display text and returns the reference.
func named(r *r4.Reference, names []r4.HumanName) *r4.Reference {
	if len(names) > 0 {
		r.Display = datatype.Shown(names[0])
	}
	return r
}

// practitionerRole creates a PractitionerRole for a person who has a specialty or an organization. It returns nil for a
// person without a specialty or organization.
func (m *Maker) practitionerRole(role *cda.Node, p Party) *r4.Reference {
	specialty := m.read.Concepts(role, "code")
	if specialty == nil && p.Organization == nil {
		return nil
	}
	r := &r4.PractitionerRole{
		Practitioner: p.Practitioner, Organization: p.Organization, Specialty: specialty,
		Telecom: m.read.Telecoms(role),
	}
	parts := []string{"PractitionerRole", p.Practitioner.Reference}
	if p.Organization != nil {
		parts = append(parts, p.Organization.Reference)
	}
	for _, s := range specialty {
		parts = append(parts, r4.CodeKey(&s))
	}
	r.Header = m.emit.HeaderWith("PractitionerRole", emit.Derive(parts...))
	ref := m.emit.AddEntity(r)
	ref.Display = p.Practitioner.Display
	return ref
}

// RelatedPerson creates a RelatedPerson for a relative, guardian or friend.
func (m *Maker) RelatedPerson(role *cda.Node, names []r4.HumanName) *r4.Reference {
	person := cmp.Or(
		role.At("relatedPerson"), role.At("associatedPerson"), role.At("guardianPerson"), role.At("playingEntity"),
	)
	r := &r4.RelatedPerson{
		Identifier: datatype.Identifiers(role), Active: r4.True(), Patient: m.patient,
		Relationship: m.read.Concepts(role, "code"), Name: names,
		Telecom: m.read.Telecoms(role), Address: m.read.Addresses(role),
		Gender: datatype.Gender(person.At("administrativeGenderCode")), BirthDate: m.read.Date(person.At("birthTime")),
	}
	correctGuarantor(r.Relationship)
	class := role.Attr("classCode")
	if role.Name == "guardian" {
		class = "GUARD"
	}
	if class != "" && (r.Relationship == nil && class != "PRS" ||
		cda.IsOneOf(class, "ECON", "NOK", "GUARD", "CAREGIVER", "AGNT")) { // a spouse, for example, or a contact person
		r.Relationship = append(
			r.Relationship, *r4.Concept("http://terminology.hl7.org/CodeSystem/v3-RoleClass", class, ""),
		)
	}
	if names == nil && r.Identifier == nil && r.Relationship == nil {
		return nil
	}
	parts := []string{m.patient.Reference}
	if len(names) > 0 {
		parts = append(parts, strings.ToLower(datatype.Shown(names[0])))
	} else {
		parts = append(parts, cda.Digest(role))
	}
	if cda.RealID(role) == "" {
		r.Header = m.emit.HeaderWith("RelatedPerson", emit.Derive(append([]string{"RelatedPerson"}, parts...)...))
	} else {
		r.Header = m.emit.Entity("RelatedPerson", role, parts...)
	}
	return named(m.emit.AddEntity(r), names)
}

// correctGuarantor corrects the code system of the code GUAR. C-CDA's Guarantor Performer
// (2.16.840.1.113883.10.20.22.4.88) specifies the code system RoleCode, but the code is in RoleClass (FHIR R4, v3 code
// systems).
func correctGuarantor(relationships []r4.CodeableConcept) {
	for _, r := range relationships {
		for i := range r.Coding {
			if c := &r.Coding[i]; c.Code == "GUAR" && c.System == "http://terminology.hl7.org/CodeSystem/v3-RoleCode" {
				c.System = "http://terminology.hl7.org/CodeSystem/v3-RoleClass"
			}
		}
	}
}
