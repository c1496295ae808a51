package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// party is who wrote, did or told something, as the resources that it is made of. All are nil for nobody.
type party struct {
	practitioner, role, organization, device, patient, related *r4.Reference
	time                                                       string // of the participation
}

// as gives the party as the first of some resource types that it has; nil when it has none of them.
func (p party) as(types ...string) *r4.Reference {
	for _, t := range types {
		var found *r4.Reference
		switch t {
		case "Practitioner":
			found = p.practitioner
		case "PractitionerRole":
			found = p.role
		case "Organization":
			found = p.organization
		case "Device":
			found = p.device
		case "Patient":
			found = p.patient
		case "RelatedPerson":
			found = p.related
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// author gives the first author of a statement: its own, or that of what is around it, up to the document (CDA R2, context
// conduction).
func (c *converter) author(n *node) party {
	for at := n; at != nil; at = at.parent {
		switch {
		case isStatement(at):
			if author := at.at("author"); author != nil {
				return c.party(author)
			}
		case at.name == "section" || at.name == "ClinicalDocument":
			if author := c.authorAround(at); author != nil {
				return c.party(author)
			}
		}
	}
	return party{}
}

// authorAround finds the author of a section or document once, since there are thousands of entries to pass on the way.
func (c *converter) authorAround(n *node) *node {
	author, known := c.authors[n]
	if !known {
		author = n.at("author")
		c.authors[n] = author
	}
	return author
}

// ownAuthor is author without what is around.
func (c *converter) ownAuthor(n *node) party { return c.party(n.at("author")) }

// performers gives those who did what a statement tells; those of the organizer around it when it names none itself.
func (c *converter) performers(n *node) []party {
	var list []party
	for p := range n.each("performer") {
		list = append(list, c.party(p))
	}
	if around := outer(n); list == nil && around != nil && around.name == "organizer" {
		return c.performers(around)
	}
	return list
}

// party reads a participation (author, performer, informant, participant …), once.
func (c *converter) party(n *node) party {
	if n == nil {
		return party{}
	}
	if known, ok := c.parties[n]; ok {
		return known
	}
	var p party
	for role := range n.each("assignedAuthor", "assignedEntity", "relatedEntity", "associatedEntity", "participantRole", "intendedRecipient",
		"assignedCustodian", "responsibleParty", "assignedPerson", "subject", "encounterParticipant") {
		p = c.roleOf(role)
		break
	}
	p.time = c.start(n.at("time"))
	c.parties[n] = p
	return p
}

// roleOf reads who plays a role. A role of nothing but an id means who had that id before.
func (c *converter) roleOf(role *node) (p party) {
	person := firstNode(role.at("assignedPerson"), role.at("relatedPerson"), role.at("associatedPerson"), role.at("informationRecipient"), role.at("playingEntity"))
	device := firstNode(role.at("assignedAuthoringDevice"), role.at("playingDevice"))
	place := firstNode(role.at("representedOrganization"), role.at("scopingOrganization"), role.at("receivedOrganization"), role.at("representedCustodianOrganization"))
	p.organization = c.organization(place)
	names := c.humanNames(person)
	switch {
	case c.isPatient(role):
		p.patient = c.patient
	case device != nil:
		p.device = c.software(role, device, p.organization)
	case names == nil && c.roles[realID(role)] != (party{}):
		known := c.roles[realID(role)]
		known.organization = firstReference(p.organization, known.organization)
		return known
	case isPersonal(role):
		p.related = c.relatedPerson(role, names)
	case names != nil || realID(role) != "" && place == nil:
		p.practitioner = c.practitioner(role, names)
		p.role = c.practitionerRole(role, p)
	}
	for id := range role.each("id") {
		if key := idKey(id); key != "" && c.roles[key] == (party{}) && p != (party{}) {
			c.roles[key] = p
		}
	}
	return p
}

func firstReference(list ...*r4.Reference) *r4.Reference {
	for _, r := range list {
		if r != nil {
			return r
		}
	}
	return nil
}

// isPatient reports whether a role has an id of the patient: patients write and tell, too.
func (c *converter) isPatient(role *node) bool {
	for id := range role.each("id") {
		if key := idKey(id); key != "" && c.patientIDs[key] {
			return true
		}
	}
	return role.attr("classCode") == "SELF" || has(role.at("code"), "SELF", "ONESELF")
}

// relatives are codes of who is a relative or friend (RoleCode, PersonalRelationshipRoleType), as senders have them.
const relatives = " SPS HUSB WIFE SPOUSE CHILD DAU SON PRN PRNT MTH FTH NMTH NFTH SIB BRO SIS DOMPART FAMMEMB FRND NBOR ROOM SIGOTHR GRPRN GRMTH GRFTH AUNT UNCLE COUSN NIECE NEPHEW "

// isPersonal reports whether a role is that of a relative or friend and not of somebody at work (RoleClass, RoleCode).
func isPersonal(role *node) bool {
	if code := role.at("code"); code.attr("codeSystem") == "2.16.840.1.113883.5.111" && strings.Contains(relatives, " "+codeOf(code)+" ") {
		return true
	}
	switch role.attr("classCode") {
	case "PRS", "NOK", "ECON", "CAREGIVER", "GUAR", "GUARD", "AGNT", "CON", "POLHOLD", "COVPTY", "DEP", "SPNSR":
		return role.at("assignedPerson") == nil
	}
	return role.at("relatedPerson") != nil
}

// practitioner makes a Practitioner. People are told apart by id and family name, since whole practices use one id.
func (c *converter) practitioner(role *node, names []r4.HumanName) *r4.Reference {
	var parts []string
	if len(names) > 0 {
		parts = []string{strings.ToLower(firstOf(names[0].Family, names[0].Text))}
	}
	p := &r4.Practitioner{
		Header: c.personHeader("Practitioner", role, parts), Identifier: identifiers(role), Name: names,
		Telecom: c.telecoms(role), Address: c.addresses(role),
	}
	return named(c.addEntity(p), names)
}

// personHeader takes the NPI of a person for the id, if there is one, since it is the same everywhere.
func (c *converter) personHeader(kind string, role *node, parts []string) r4.Header {
	for id := range role.each("id") {
		if npi := id.attr("extension"); id.attr("root") == "2.16.840.1.113883.4.6" && npi != "" {
			return c.headerWith(kind, derive(append([]string{kind, "npi", npi}, parts...)...))
		}
	}
	if realID(role) == "" { // by who it is, and not by when it signed
		who := firstNode(role.at("assignedPerson"), role.at("relatedPerson"), role.at("associatedPerson"), role.at("guardianPerson"), role)
		return c.headerWith(kind, derive(append([]string{kind, c.key, digest(who)}, parts...)...))
	}
	return c.entity(kind, role, parts...)
}

// named gives a reference its display text.
func named(r *r4.Reference, names []r4.HumanName) *r4.Reference {
	if len(names) > 0 {
		r.Display = shown(names[0])
	}
	return r
}

// practitionerRole makes a PractitionerRole of somebody with a specialty or an organization; nil without either.
func (c *converter) practitionerRole(role *node, p party) *r4.Reference {
	specialty := c.concepts(role, "code")
	if specialty == nil && p.organization == nil {
		return nil
	}
	r := &r4.PractitionerRole{Practitioner: p.practitioner, Organization: p.organization, Specialty: specialty, Telecom: c.telecoms(role)}
	parts := []string{"PractitionerRole", p.practitioner.Reference}
	if p.organization != nil {
		parts = append(parts, p.organization.Reference)
	}
	for _, s := range specialty {
		parts = append(parts, codeKey(&s))
	}
	r.Header = c.headerWith("PractitionerRole", derive(parts...))
	ref := c.addEntity(r)
	ref.Display = p.practitioner.Display
	return ref
}

// codeKey writes a concept as a text for comparing.
func codeKey(concept *r4.CodeableConcept) string {
	if len(concept.Coding) > 0 {
		return concept.Coding[0].System + "|" + concept.Coding[0].Code
	}
	return concept.Text
}

// organization makes an Organization; nil when nothing is known of it.
func (c *converter) organization(n *node) *r4.Reference {
	if n == nil {
		return nil
	}
	o := &r4.Organization{Identifier: identifiers(n), Active: yes(), // US Core asks for it, and a document names nobody who is gone
		Telecom: c.telecoms(n), Address: c.addresses(n)}
	for i := range o.Telecom { // org-2, org-3: nobody lives there
		o.Telecom[i].Use = strings.TrimPrefix(o.Telecom[i].Use, "home")
	}
	for i := range o.Address {
		o.Address[i].Use = strings.TrimPrefix(o.Address[i].Use, "home")
	}
	for name := range n.each("name") {
		switch words := name.words(); {
		case words == "":
		case o.Name == "":
			o.Name = words
		default:
			o.Alias = append(o.Alias, words)
		}
	}
	if o.Name == "" && o.Identifier == nil { // org-1
		return nil
	}
	o.Type = c.concepts(n, "standardIndustryClassCode")
	if whole := firstNode(n.at("asOrganizationPartOf", "wholeOrganization"), n.at("asOrganizationPartOf")); whole != nil {
		o.PartOf = c.organization(whole)
	}
	own := realID(n)
	if root := n.at("id").attr("root"); own == "" && isOID(root) { // an organization has an OID of its own
		own = root
	}
	if own == "" {
		own = c.key
	}
	o.Header = c.headerWith("Organization", derive("Organization", own, strings.ToLower(o.Name)))
	ref := c.addEntity(o)
	ref.Display = o.Name
	return ref
}

// software makes a Device of what wrote something by itself.
func (c *converter) software(role, device *node, owner *r4.Reference) *r4.Reference {
	d := &r4.Device{Identifier: identifiers(role), Type: c.concept(firstNode(device.at("code"), role.at("code"))), Owner: owner}
	model, version := device.at("manufacturerModelName").words(), device.at("softwareName").words()
	if model != "" {
		d.DeviceName = append(d.DeviceName, r4.DeviceName{Name: model, Type: "model-name"})
	}
	if version != "" {
		d.DeviceName = append(d.DeviceName, r4.DeviceName{Name: version, Type: "other"})
	}
	if model == "" && version == "" && d.Identifier == nil && d.Type == nil {
		return nil
	}
	if realID(role) == "" {
		d.Header = c.headerWith("Device", derive("Device", c.key, digest(device)))
	} else {
		d.Header = c.entity("Device", role, model, version)
	}
	ref := c.addEntity(d)
	ref.Display = firstOf(model, version)
	return ref
}

// relatedPerson makes a RelatedPerson of a relative, guardian or friend.
func (c *converter) relatedPerson(role *node, names []r4.HumanName) *r4.Reference {
	person := firstNode(role.at("relatedPerson"), role.at("associatedPerson"), role.at("guardianPerson"), role.at("playingEntity"))
	r := &r4.RelatedPerson{
		Identifier: identifiers(role), Active: yes(), Patient: c.patient, Relationship: c.concepts(role, "code"), Name: names,
		Telecom: c.telecoms(role), Address: c.addresses(role), Gender: gender(person.at("administrativeGenderCode")), BirthDate: c.date(person.at("birthTime")),
	}
	class := role.attr("classCode")
	if role.name == "guardian" {
		class = "GUARD"
	}
	if class != "" && (r.Relationship == nil && class != "PRS" || isOneOf(class, "ECON", "NOK", "GUARD", "CAREGIVER", "AGNT")) { // a spouse, and whom to call
		r.Relationship = append(r.Relationship, *one("http://terminology.hl7.org/CodeSystem/v3-RoleClass", class, ""))
	}
	if names == nil && r.Identifier == nil && r.Relationship == nil {
		return nil
	}
	parts := []string{c.patient.Reference}
	if len(names) > 0 {
		parts = append(parts, strings.ToLower(shown(names[0])))
	} else {
		parts = append(parts, digest(role))
	}
	if realID(role) == "" {
		r.Header = c.headerWith("RelatedPerson", derive(append([]string{"RelatedPerson"}, parts...)...))
	} else {
		r.Header = c.entity("RelatedPerson", role, parts...)
	}
	return named(c.addEntity(r), names)
}
