package export

import (
	"slices"
	"strings"

	"recordbridge/shared/fhir"
)

// owner is what a resource says of whose record it is part of; a larger one is worse.
type owner int

const (
	nobodys  owner = iota // it names no patient
	ours                  // it names ours
	anothers              // it names another, or one that cannot be told to be ours
)

// knownAs notes by what the server knows the patient: its id and those of records that it says are the same person's
// (Patient.link), which a merge leaves behind; and its business identifiers.
func (c *collector) knownAs(patient fhir.Resource) {
	c.state.Patients = []string{c.patient}
	person := fhir.ScanPerson(patient)
	for _, text := range person.Links {
		if !c.state.keepLink(text) {
			c.knownBy(text)
		}
	}
	for _, one := range person.Identifiers {
		c.state.Identifiers = append(c.state.Identifiers, identifierMark(one))
	}
}

// knownBy notes a record that the server says is the same person's.
func (c *collector) knownBy(link string) {
	resourceType, id, ok := fhir.ParseReference(link, c.base)
	if ok && resourceType == "Patient" && len(c.state.Patients) < maxKnownAs {
		c.state.Patients = append(c.state.Patients, id)
	}
}

func identifierMark(one fhir.Identifier) uint64 { return markOf(one.System + "\n" + one.Value) }

// ownerOf decides whose a resource is (docs/deviations.md, Whose a resource is). Each of its own members that says so must name
// our patient, or no patient at all. Where none does, all that it refers to decides.
func (c *collector) ownerOf(resource fhir.Resource) owner {
	says := contained{collector: c, outer: resource}
	verdict := nobodys
	for member := range slices.Values(byMember(resource.Subjects)) {
		switch says.group(member) {
		case anothers:
			return anothers
		case ours:
			verdict = ours
		case nobodys:
		}
	}
	if verdict == ours {
		return ours
	}
	return says.anywhere()
}

// byMember groups subjects by the member that they stand in.
func byMember(all []fhir.Subject) [][]fhir.Subject {
	var groups [][]fhir.Subject
	for i, one := range all {
		if i == 0 || one.Member != all[i-1].Member {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], one)
	}
	return groups
}

// contained reads references of one resource, those to what it contains among them.
type contained struct {
	*collector

	outer fhir.Resource
	inner map[string]owner // by id; nil until it is needed
}

// innerOf decides by a contained resource; ok is false when none has the id. Of two with it the worse counts.
func (c *contained) innerOf(id string) (whose owner, ok bool) {
	if c.inner == nil {
		c.inner = map[string]owner{}
		for _, one := range fhir.ScanContained(c.outer) {
			of := nobodys
			if one.Type == "Patient" {
				of = c.identified(one.Identifiers)
			}
			c.inner[one.ID] = max(c.inner[one.ID], of)
		}
	}
	whose, ok = c.inner[id]
	return whose, ok
}

// group decides by one member: of several subjects one that is ours is enough, as in an account of a family.
func (c *contained) group(subjects []fhir.Subject) owner {
	verdict := nobodys
	for _, one := range subjects {
		switch c.subject(one) {
		case ours:
			return ours
		case anothers:
			verdict = anothers
		case nobodys:
		}
	}
	return verdict
}

func (c *contained) subject(one fhir.Subject) owner {
	switch {
	case one.Unreadable:
		return anothers
	case one.Reference != "":
		return c.reference(one.Reference, anothers)
	case one.Type != "Patient" && fhir.TypeName(one.Type) != fhir.AnyType:
		return nobodys
	}
	return c.identified([]fhir.Identifier{one.Identifier})
}

func (c *contained) identified(list []fhir.Identifier) owner {
	for _, one := range list {
		if slices.Contains(c.state.Identifiers, identifierMark(one)) {
			return ours
		}
	}
	return anothers
}

// reference reads a literal reference. What cannot be told is unclear.
func (c *contained) reference(text string, unclear owner) owner {
	if id, ok := strings.CutPrefix(text, "Patient/"); ok && id == c.patient {
		return ours // as nearly all are
	}
	id, names := fhir.NamesPatient(text)
	switch names {
	case fhir.NoPatient:
		return nobodys
	case fhir.APatient:
		if slices.Contains(c.state.Patients, id) {
			return ours
		}
		return anothers
	case fhir.Contained:
		if whose, ok := c.innerOf(id); ok {
			return whose
		}
	case fhir.Unclear:
	}
	return unclear
}

// anywhere decides by everything that the resource refers to: one reference to our patient is enough, but for a Group, which
// must not say who else is in it, and where there are only others the resource is not ours. What cannot be told is taken for another patient where a type has its patient among its
// participants, and for somebody else where patients stand in members of their own.
func (c *contained) anywhere() owner {
	unclear := nobodys
	switch c.outer.Type {
	case "Appointment", "AppointmentResponse", "AuditEvent", "Group", "Person", "Schedule", "SupplyRequest":
		unclear = anothers
	}
	verdict := nobodys
	if c.outer.OfAPatient { // by its identifier, or in a reference that is read below
		verdict = anothers
	}
	isMember, isShared := false, false
	for _, text := range c.outer.References {
		switch c.reference(text, unclear) {
		case ours:
			if c.outer.Type != "Group" {
				return ours
			}
			isMember = true
		case anothers:
			verdict, isShared = anothers, true
		case nobodys:
		}
	}
	if isMember && !isShared {
		return ours
	}
	return verdict
}
