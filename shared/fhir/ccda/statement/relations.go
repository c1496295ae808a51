package statement

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
)

// IsPreference reports whether an Observation's code identifies a Priority Preference.
func IsPreference(o *r4.Observation) bool { return o.Code.Has("http://snomed.info/sct", "225773000") }

// PertainsToGoal records the goal that a resource serves (FHIR extension resource-pertainsToGoal).
func PertainsToGoal(head *r4.Header, goal r4.Reference) {
	const url = "http://hl7.org/fhir/StructureDefinition/resource-pertainsToGoal"
	for _, e := range head.Extension {
		if e.URL == url && e.ValueReference.Reference == goal.Reference {
			return
		}
	}
	head.Extension = append(head.Extension, r4.Extension{URL: url, ValueReference: &goal})
}

// Related returns references to the targets of a statement's relationships of the given types (ActRelationshipType).
// The targets are nested statements and statements referenced by an Entry Reference. The list is complete only after
// all statements have been converted to resources (emit.Emitter.After).
func (c *Context) Related(n *cda.Node, kinds ...string) []r4.Reference {
	var list []r4.Reference
	for r := range n.Each("entryRelationship") {
		if !cda.IsOneOf(r.Attr("typeCode"), kinds...) {
			continue
		}
		for s := range r.Each() {
			if ref := c.Pointed(s); ref != nil && c.Emit.Affords("entryRelationship", emit.RelationSize) {
				list = r4.AppendReference(list, *ref)
			}
		}
	}
	return list
}

// Pointed returns a reference to the resource that represents a statement. A statement that merely repeats another
// statement's id is represented by that statement's resource.
func (c *Context) Pointed(s *cda.Node) *r4.Reference {
	if ref := c.Emit.Reference(s); ref != nil && !cda.IsTemplate(s, EntryReference) {
		return ref
	}
	for named := range c.Document.Acts(cda.RealID(s), c.Emit.HasFact) {
		if !cda.IsTemplate(named, EntryReference) {
			return c.Emit.Reference(named)
		}
	}
	return nil
}
