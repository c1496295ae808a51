package collect

import (
	"slices"
	"strings"

	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/fhir"
)

// ownership classifies a resource by the patient to whom it belongs; its values are ordered from best to worst.
type ownership int

const (
	ownerNone    ownership = iota // the resource does not name a patient
	ownerPatient                  // the resource names the exported patient
	ownerOther                    // the resource refers to another patient or an unidentifiable one
)

// owner determines which patient a resource belongs to.
type owner struct {
	patient string // the exported patient's id
	known   *checkpoint.Patient
}

func identifierMark(one fhir.Identifier) uint64 {
	return checkpoint.MarkOf(one.System + "\n" + one.Value)
}

// of classifies a resource (docs/reference/decisions-collection.md, "Owner of a resource"). Each of the resource's own
// members that refers to a patient must refer to the exported patient. If none of these members refers to a patient,
// all references in the resource are checked.
func (o owner) of(resource fhir.Resource) ownership {
	says := contained{owner: o, outer: resource}
	answer := ownerNone
	for member := range slices.Values(byMember(resource.Subjects)) {
		switch says.group(member) {
		case ownerOther:
			return ownerOther
		case ownerPatient:
			answer = ownerPatient
		case ownerNone:
		}
	}
	if answer == ownerPatient {
		return ownerPatient
	}
	return says.byAllReferences()
}

// byMember groups subjects by the resource member that contains them.
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

// contained classifies the references of a single resource, including those to its contained resources.
type contained struct {
	owner owner
	outer fhir.Resource
	inner map[string]ownership // classifications by id; nil until first used
}

// innerOf classifies a contained resource. The ok result is false if no contained resource has the id. If two contained
// resources have the same id, the worse of their classifications counts.
func (c *contained) innerOf(id string) (found ownership, ok bool) {
	if c.inner == nil {
		c.inner = map[string]ownership{}
		for _, one := range fhir.ScanContained(c.outer) {
			of := ownerNone
			if one.Type == "Patient" {
				of = c.owner.identified(one.Identifiers)
			}
			c.inner[one.ID] = max(c.inner[one.ID], of)
		}
	}
	found, ok = c.inner[id]
	return found, ok
}

// group classifies the subjects named by a single member of a resource. If a member has several subjects, as in a
// family account, one reference to the exported patient is sufficient.
func (c *contained) group(subjects []fhir.Subject) ownership {
	answer := ownerNone
	for _, one := range subjects {
		switch c.subject(one) {
		case ownerPatient:
			return ownerPatient
		case ownerOther:
			answer = ownerOther
		case ownerNone:
		}
	}
	return answer
}

func (c *contained) subject(one fhir.Subject) ownership {
	switch {
	case one.Unreadable:
		return ownerOther
	case one.Reference != "":
		return c.reference(one.Reference, ownerOther)
	case one.Type != "Patient" && fhir.TypeName(one.Type) != fhir.AnyType:
		return ownerNone
	}
	return c.owner.identified([]fhir.Identifier{one.Identifier})
}

func (o owner) identified(list []fhir.Identifier) ownership {
	for _, one := range list {
		if slices.Contains(o.known.Identifiers, identifierMark(one)) {
			return ownerPatient
		}
	}
	return ownerOther
}

// reference classifies a literal reference. It returns unclear if it cannot identify the target.
func (c *contained) reference(text string, unclear ownership) ownership {
	if id, ok := strings.CutPrefix(text, "Patient/"); ok && id == c.owner.patient {
		return ownerPatient // the most common case
	}
	id, names := fhir.NamesPatient(text)
	switch names {
	case fhir.NoPatient:
		return ownerNone
	case fhir.APatient:
		if slices.Contains(c.owner.known.IDs, id) {
			return ownerPatient
		}
		return ownerOther
	case fhir.Contained:
		if found, ok := c.innerOf(id); ok {
			return found
		}
	case fhir.Unclear:
	}
	return unclear
}

// byAllReferences classifies a resource by all its references. A single reference to the exported patient is
// sufficient, except in a Group, whose other members must not be revealed. If all references point to other patients,
// the resource does not belong to the exported patient. A reference to an unidentifiable target counts as a reference
// to another patient if the resource type lists the patient together with other participants. Other types refer to
// patients in separate members, so byAllReferences ignores their unidentifiable targets.
func (c *contained) byAllReferences() ownership {
	unclear := ownerNone
	switch c.outer.Type {
	case "Appointment", "AppointmentResponse", "AuditEvent", "Group", "Person", "Schedule", "SupplyRequest":
		unclear = ownerOther
	}
	answer := ownerNone
	if c.outer.OfAPatient { // the patient is named by an identifier, or by a reference handled below
		answer = ownerOther
	}
	isMember, isShared := false, false
	for _, text := range c.outer.References {
		switch c.reference(text, unclear) {
		case ownerPatient:
			if c.outer.Type != "Group" {
				return ownerPatient
			}
			isMember = true
		case ownerOther:
			answer, isShared = ownerOther, true
		case ownerNone:
		}
	}
	if isMember && !isShared {
		return ownerPatient
	}
	return answer
}
