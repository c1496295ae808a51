package ccda

import (
	"net/url"
	"slices"
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// converter turns one document into resources. What its rules share is here: who the patient is, where a text of the narrative
// stands, what has been made so far.
type converter struct {
	document  *node
	source    string        // meta.source: the document's id as a URI
	version   string        // for ids: this document and no other, even if somebody gave its id to another one
	key       string        // for ids: what all versions of the document have in common
	salt      string        // for ids: empty, or the patient in a set where another patient's facts have the same ids
	zone      string        // of the document's time, for times without one
	encounter *r4.Reference // encompassingEncounter; nil when there is none

	patient    *r4.Reference
	patientIDs map[string]bool

	rules     map[string]*entryRule // by template
	narrative map[string]*node      // by ID
	acts      map[string][]*node    // statements by id, for references between them
	parties   map[*node]party       // by their participation
	authors   map[*node]*node       // of sections and the document
	roles     map[string]party      // by each of their ids
	later     []func()              // to be done when every statement has its resource

	taken []bool               // statements and codes that some resource tells, by the number of their node
	facts map[*node]*r4.Header // of statements: the resource that tells them

	authorships authorships

	resources []r4.Resource
	index     map[string]int // of resources, by "Type/id"
	filler    r4.Filler
	open      entryList // of the section that is being read
	within    string    // its rule's name
	inSection *node
	report    DocumentReport
	merged    int
	budget    budget
}

// newConverter reads what has to be known before the first resource is made. The document has so many bytes.
func newConverter(document *node, bytes int, patientID, salt string) *converter {
	c := &converter{
		document: document, salt: salt, patient: &r4.Reference{Reference: "Patient/" + patientID},
		rules: ruleIndex(), narrative: map[string]*node{}, acts: map[string][]*node{}, parties: map[*node]party{}, authors: map[*node]*node{}, roles: map[string]party{},
		patientIDs: map[string]bool{}, index: map[string]int{}, budget: budgetOf(bytes),
		facts: map[*node]*r4.Header{},
	}
	c.source, c.key = documentNames(document)
	c.version = c.source + "|" + codeOf(document.at("code")) + "|" + document.at("effectiveTime").attr("value")
	if s, ok := readStamp(document.at("effectiveTime").attr("value")); ok {
		c.zone = s.zone
	}
	c.report = DocumentReport{
		Source: c.source, Code: codeOf(document.at("code")), Resources: map[string]int{}, Templates: map[string]int{}, Unknown: map[string]int{},
	}
	for _, key := range patientKeys(document) {
		c.patientIDs[key] = true
	}
	elements := 0
	for n := range document.descendants() {
		elements = int(n.number) + 1
		if id := n.attr("ID"); id != "" && c.narrative[id] == nil {
			c.narrative[id] = n
		}
		if isStatement(n) {
			if key := realID(n); key != "" {
				c.acts[key] = append(c.acts[key], n)
			}
		}
	}
	c.taken = make([]bool, elements)
	return c
}

// documentNames gives the URI of a document, and what ids of facts without their own are made of: its set when it has one,
// since the next version of the document tells the same facts.
func documentNames(document *node) (source, key string) {
	id := document.at("id")
	root, extension := uriOf(id.attr("root")), id.attr("extension")
	switch {
	case root == "":
		source = "urn:uuid:" + derive("document", digest(document))
	case extension == "":
		source = root
	default:
		source = root + "#" + url.PathEscape(extension)
	}
	if key = idKey(document.at("setId")); key == "" {
		key = source
	}
	return source, key
}

// convert makes all resources of the document, the Patient first and its Provenance last.
func (c *converter) convert() {
	c.readPatient()
	composition := c.readHeader()
	composition.Section = c.readBody()
	for _, do := range c.later {
		do()
	}
	c.addAuthorships()
	c.addProvenance(composition)
	for _, r := range c.resources {
		c.report.Resources[r.Base().ResourceType]++
	}
}

// isStatement reports whether an element is a clinical statement (CDA R2, clinicalStatement).
func isStatement(n *node) bool {
	switch n.name {
	case "act", "encounter", "observation", "observationMedia", "organizer", "procedure", "regionOfInterest", "substanceAdministration", "supply":
		return true
	}
	return false
}

// header begins the resource that tells a statement: its id by the rule of the package, and its source.
func (c *converter) header(kind string, n *node) r4.Header {
	if own := realID(n); own != "" {
		return c.headerWith(kind, derive(append([]string{c.salt, kind, own}, identity(kind, n)...)...))
	}
	return c.headerWith(kind, derive(c.salt, kind, c.key, container(n), digest(n)))
}

// entity begins a resource of something that exists by itself and that all its documents call the same.
func (c *converter) entity(kind string, n *node, parts ...string) r4.Header {
	own := realID(n)
	if own == "" {
		own = c.key + "|" + digest(n)
	}
	return c.headerWith(kind, derive(append([]string{kind, own}, parts...)...))
}

func (c *converter) headerWith(kind, id string) r4.Header {
	return r4.Header{ResourceType: kind, ID: id, Meta: &r4.Meta{Source: c.source}}
}

// identity is what has to be the same besides its id for a statement to be the same fact: what it is about, whether it is so,
// and when it began. What kind of problem somebody calls a problem, or of allergy an allergy, does not count.
func identity(kind string, n *node) []string {
	product := firstNode(n.at("consumable", "manufacturedProduct"), n.at("product", "manufacturedProduct"))
	role := n.at("participant", "participantRole")
	substance := firstNode(role.at("playingEntity", "code"), role.at("playingDevice", "code"))
	of := []*node{n.at("code"), n.at("value"), product.at("manufacturedMaterial", "code"), product.at("manufacturedLabeledDrug", "code"), substance}
	switch {
	case kind == "Condition":
		of = []*node{n.at("value")}
	case kind == "AllergyIntolerance" && anyCode(substance) != "|":
		of = []*node{substance}
	case kind == "Procedure": // another mention may leave out its devices and places
		of = of[:1]
	}
	parts := []string{n.attr("moodCode"), n.attr("negationInd")}
	for _, code := range of {
		parts = append(parts, anyCode(code))
	}
	times := n.at("effectiveTime")
	return append(parts, firstOf(times.at("low").attr("value"), times.attr("value"), times.at("high").attr("value")))
}

// anyCode writes the code of a CD, or of its first translation, for comparing; "|" when there is none.
func anyCode(n *node) string {
	if n.attr("code") == "" {
		n = n.at("translation")
	}
	return n.attr("codeSystem") + "|" + n.attr("code")
}

// container names the closest statement around one that has a real id.
func container(n *node) string {
	for up := n.parent; up != nil; up = up.parent {
		if isStatement(up) {
			if own := realID(up); own != "" {
				return own
			}
		}
	}
	return ""
}

// add takes a resource that tells some statements, the main one first, and gives a reference to it. A second resource of its
// id completes the first, unless they contradict each other: then it becomes one of its own. Codes of the statements that have
// no member in the resource, such as the class of an act, stay as tags.
func (c *converter) add(r r4.Resource, told ...*node) *r4.Reference {
	head := r.Base()
	for _, n := range told {
		if n != nil {
			c.take(n)
			c.tagUntold(head, n)
			c.tagComments(head, n)
		}
	}
	if !c.affordsResource(r) {
		return leftOut()
	}
	name := head.ResourceType + "/" + head.ID
	if at, known := c.index[name]; known && len(told) > 0 && !r4.Agree(c.resources[at], r) {
		head.ID = derive(head.ID, digest(told[0]))
		name = head.ResourceType + "/" + head.ID
	}
	if at, known := c.index[name]; known {
		c.filler.Fill(c.resources[at], r)
		c.merged++
		head = c.resources[at].Base()
	} else {
		c.index[name] = len(c.resources)
		c.resources = append(c.resources, r)
	}
	for _, n := range told {
		if n == nil {
			continue
		}
		c.tell(n, head)
		c.attribute(head, n, told[0])
	}
	if len(told) > 0 {
		c.open.add(*head.Reference())
	}
	return head.Reference()
}

// addEntity is add for what exists by itself: all that is said of it is one resource.
func (c *converter) addEntity(r r4.Resource) *r4.Reference {
	if !c.affordsResource(r) {
		return leftOut()
	}
	return c.keep(r)
}

// keep is addEntity for a resource that is paid for.
func (c *converter) keep(r r4.Resource) *r4.Reference {
	name := r.Base().ResourceType + "/" + r.Base().ID
	if at, known := c.index[name]; known {
		c.filler.Fill(c.resources[at], r)
	} else {
		c.index[name] = len(c.resources)
		c.resources = append(c.resources, r)
	}
	return r.Base().Reference()
}

// tagUntold keeps the codes of a statement's code, value and interpretation that no rule has read.
func (c *converter) tagUntold(head *r4.Header, n *node) {
	for part := range n.each("code", "value", "interpretationCode") {
		for cd := range part.descendants() {
			if code, ok := coding(cd); ok && !c.isTaken(cd) && isOneOf(cd.name, "code", "value", "interpretationCode", "translation") {
				code.Version = ""
				head.Tag(code)
				c.take(cd)
			}
		}
	}
}

// tagComments keeps the codes of the comments that are notes of the resource.
func (c *converter) tagComments(head *r4.Header, n *node) {
	for r := range n.each("entryRelationship") {
		if act := r.at("act"); act != nil && c.isTaken(act) && isComment(act) {
			c.tagUntold(head, act)
		}
	}
}

// entryList is what a section of the Composition refers to, each once.
type entryList struct {
	list []r4.Reference
	seen map[string]bool
}

func (l *entryList) add(r r4.Reference) {
	if !isKept(&r) {
		return
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	if !l.seen[r.Reference] {
		l.seen[r.Reference] = true
		l.list = append(l.list, r)
	}
}

// appendReference adds a reference that is not in the list yet.
func appendReference(list []r4.Reference, more ...r4.Reference) []r4.Reference {
	for _, m := range more {
		if !slices.ContainsFunc(list, func(r r4.Reference) bool { return r.Reference == m.Reference }) {
			list = append(list, m)
		}
	}
	return list
}

// reference gives the resource that tells a statement, or nil.
func (c *converter) reference(n *node) *r4.Reference {
	if head := c.toldBy(n); head != nil {
		return head.Reference()
	}
	return nil
}

// take notes that some resource tells a statement or a code.
func (c *converter) take(n *node) { c.taken[n.number] = true }

// isTaken reports whether some resource tells a statement or a code.
func (c *converter) isTaken(n *node) bool { return c.taken[n.number] }

// tell notes the resource that tells a statement. The first stays.
func (c *converter) tell(n *node, head *r4.Header) {
	if c.facts[n] == nil {
		c.facts[n] = head
	}
}

// toldBy gives the resource that tells a statement, or nil.
func (c *converter) toldBy(n *node) *r4.Header { return c.facts[n] }

// drop counts what leaves no trace.
func (c *converter) drop(what, reason string) {
	for i := range c.report.Dropped {
		if d := &c.report.Dropped[i]; d.What == what && d.Reason == reason {
			d.Count++
			return
		}
	}
	c.report.Dropped = append(c.report.Dropped, Dropped{What: what, Reason: reason, Count: 1})
}

// note gives the words of a statement's text as a note, if it has any that its code does not say.
func (c *converter) note(n *node, known *r4.CodeableConcept) []r4.Annotation {
	words := c.text(n.at("text"))
	if words == "" || known != nil && strings.EqualFold(words, known.Text) {
		return nil
	}
	return []r4.Annotation{{Text: words}}
}
