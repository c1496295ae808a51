package collect

import (
	"slices"
	"strings"

	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/fhir"
)

// whose classifies a resource by the patient that it belongs to; a larger value is worse.
type whose int

const (
	nobodys  whose = iota // it names no patient
	ours                  // it names our patient
	anothers              // it names another patient, or one that cannot be identified as ours
)

// owner decides which patient a resource belongs to.
type owner struct {
	patient string // our patient's id
	known   *checkpoint.Patient
}

func identifierMark(one fhir.Identifier) uint64 {
	return checkpoint.MarkOf(one.System + "\n" + one.Value)
}

// of classifies a resource (docs/reference/deviations.md, Owner of a resource). Each of its own members that names a
// patient must name our patient, or no patient at all. If no member does, all its references decide.
func (o owner) of(resource fhir.Resource) whose {
	says := contained{owner: o, outer: resource}
	answer := nobodys
	for member := range slices.Values(byMember(resource.Subjects)) {
		switch says.group(member) {
		case anothers:
			return anothers
		case ours:
			answer = ours
		case nobodys:
		}
	}
	if answer == ours {
		return ours
	}
	return says.anywhere()
}

// byMember groups subjects by the member that contains them.
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

// contained resolves the references of one resource, including those to its contained resources.
type contained struct {
	owner owner
	outer fhir.Resource
	inner map[string]whose // by id; nil until it is needed
}

// innerOf classifies a contained resource; ok is false if none has the id. If two have it, the worse result counts.
func (c *contained) innerOf(id string) (found whose, ok bool) {
	if c.inner == nil {
		c.inner = map[string]whose{}
		for _, one := range fhir.ScanContained(c.outer) {
			of := nobodys
			if one.Type == "Patient" {
				of = c.owner.identified(one.Identifiers)
			}
			c.inner[one.ID] = max(c.inner[one.ID], of)
		}
	}
	found, ok = c.inner[id]
	return found, ok
}

// group classifies one member: if it has several subjects, one that is ours is enough, as in a family's account.
func (c *contained) group(subjects []fhir.Subject) whose {
	answer := nobodys
	for _, one := range subjects {
		switch c.subject(one) {
		case ours:
			return ours
		case anothers:
			answer = anothers
		case nobodys:
		}
	}
	return answer
}

func (c *contained) subject(one fhir.Subject) whose {
	switch {
	case one.Unreadable:
		return anothers
	case one.Reference != "":
		return c.reference(one.Reference, anothers)
	case one.Type != "Patient" && fhir.TypeName(one.Type) != fhir.AnyType:
		return nobodys
	}
	return c.owner.identified([]fhir.Identifier{one.Identifier})
}

func (o owner) identified(list []fhir.Identifier) whose {
	for _, one := range list {
		if slices.Contains(o.known.Identifiers, identifierMark(one)) {
			return ours
		}
	}
	return anothers
}

// reference classifies a literal reference. It returns unclear if the target cannot be identified.
func (c *contained) reference(text string, unclear whose) whose {
	if id, ok := strings.CutPrefix(text, "Patient/"); ok && id == c.owner.patient {
		return ours // the common case
	}
	id, names := fhir.NamesPatient(text)
	switch names {
	case fhir.NoPatient:
		return nobodys
	case fhir.APatient:
		if slices.Contains(c.owner.known.IDs, id) {
			return ours
		}
		return anothers
	case fhir.Contained:
		if found, ok := c.innerOf(id); ok {
			return found
		}
	case fhir.Unclear:
	}
	return unclear
}

// anywhere classifies a resource by all its references. One reference to our patient is enough, except for a Group,
// which must not reveal its other members. If all references point to others, the resource is not ours. An
// unidentifiable target counts as another patient if the type has its patient among its participants, and as a
// different person if the type has separate members for patients.
func (c *contained) anywhere() whose {
	unclear := nobodys
	switch c.outer.Type {
	case "Appointment", "AppointmentResponse", "AuditEvent", "Group", "Person", "Schedule", "SupplyRequest":
		unclear = anothers
	}
	answer := nobodys
	if c.outer.OfAPatient { // by its identifier, or in a reference that is read below
		answer = anothers
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
			answer, isShared = anothers, true
		case nobodys:
		}
	}
	if isMember && !isShared {
		return ours
	}
	return answer
}
