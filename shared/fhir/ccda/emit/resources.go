package emit

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

// Header starts the resource for a statement, with the resource's id and source.
func (e *headers) Header(kind string, n *cda.Node) r4.Header {
	if own := cda.RealID(n); own != "" {
		return e.HeaderWith(kind, Derive(append([]string{e.Salt, kind, own}, identity(kind, n)...)...))
	}
	return e.HeaderWith(kind, Derive(e.Salt, kind, e.Key, cda.Container(n), cda.Digest(n)))
}

// Entity starts the resource for an independent entity, whose id is the same in all documents.
func (e *headers) Entity(kind string, n *cda.Node, parts ...string) r4.Header {
	own := cda.RealID(n)
	if own == "" {
		own = e.Key + "|" + cda.Digest(n)
	}
	return e.HeaderWith(kind, Derive(append([]string{kind, own}, parts...)...))
}

// HeaderWith starts a resource with a given id.
func (e *headers) HeaderWith(kind, id string) r4.Header {
	return r4.Header{ResourceType: kind, ID: id, Meta: &r4.Meta{Source: e.Source}}
}

// identity returns the parts of a statement that, together with its id, identify its fact: the subject, the negation
// and the start time. A fact's identity does not depend on the kind of problem or allergy.
func identity(kind string, n *cda.Node) []string {
	product := cmp.Or(n.At("consumable", "manufacturedProduct"), n.At("product", "manufacturedProduct"))
	role := n.At("participant", "participantRole")
	substance := cmp.Or(role.At("playingEntity", "code"), role.At("playingDevice", "code"))
	of := []*cda.Node{
		n.At("code"), n.At("value"), product.At("manufacturedMaterial", "code"),
		product.At("manufacturedLabeledDrug", "code"), substance,
	}
	switch {
	case kind == "Condition":
		of = []*cda.Node{n.At("value")}
	case kind == "AllergyIntolerance" && anyCode(substance) != "|":
		of = []*cda.Node{substance}
	case kind == "Procedure": // Another statement about the same procedure may omit its devices and locations.
		of = of[:1]
	}
	parts := []string{n.Attr("moodCode"), n.Attr("negationInd")}
	if parts[1] == "" && cda.IsNegated(n) {
		parts[1] = "true"
	}
	// An unanswered question is a different fact from an answered one.
	if flavor := cda.NullFlavor(n); flavor != "" {
		parts = append(parts, flavor)
	}
	for _, code := range of {
		parts = append(parts, anyCode(code))
	}
	times := n.At("effectiveTime")
	return append(parts, cmp.Or(times.At("low").Attr("value"), times.Attr("value"), times.At("high").Attr("value")))
}

// anyCode formats a CD's code, or its first translation's code, for comparison. It returns "|" if neither has a code.
func anyCode(n *cda.Node) string {
	if n.Attr("code") == "" {
		n = n.At("translation")
	}
	return n.Attr("codeSystem") + "|" + n.Attr("code")
}

// Merge adds a resource for the given statements. An existing resource with the same id is completed with the new data,
// unless the two contradict each other. Merge returns the resulting resource's header.
func (e *Emitter) Merge(r r4.Resource, told []*cda.Node) *r4.Header {
	head := r.Base()
	name := head.ResourceType + "/" + head.ID
	if at, known := e.store.Find(name); known && len(told) > 0 && !r4.Agree(e.store.Get(at), r) {
		head.ID = Derive(head.ID, cda.Digest(told[0]))
		name = head.ResourceType + "/" + head.ID
	}
	if at, known := e.store.Find(name); known {
		e.filler.Fill(e.store.Get(at), r)
		e.merged++
		e.latest = at
		return e.store.Get(at).Base()
	}
	e.latest = e.store.Add(name, r, true)
	return head
}

// AddEntity adds the resource for an independent entity. All statements about the same entity become one resource.
func (e *Emitter) AddEntity(r r4.Resource) *r4.Reference {
	if !e.AffordsResource(r) {
		return LeftOut()
	}
	return e.Keep(r)
}

// Keep is like AddEntity but for a resource already charged to the budget.
func (e *Emitter) Keep(r r4.Resource) *r4.Reference {
	name := r.Base().ResourceType + "/" + r.Base().ID
	if at, known := e.store.Find(name); known {
		e.filler.Fill(e.store.Get(at), r)
	} else {
		e.store.Add(name, r, false)
	}
	return r.Base().Reference()
}
