package r4

// Composition is the FHIR Composition resource (composition.html), which represents the document itself, with its
// sections.
type Composition struct {
	Header

	Language        string                `json:"language,omitempty"`
	Identifier      *Identifier           `json:"identifier,omitempty"`
	Status          string                `json:"status"`
	Type            *CodeableConcept      `json:"type"`
	Category        []CodeableConcept     `json:"category,omitempty" merge:"union"`
	Subject         *Reference            `json:"subject,omitempty"`
	Encounter       *Reference            `json:"encounter,omitempty"`
	Date            string                `json:"date,omitempty"`
	DateElement     *Element              `json:"_date,omitempty"`
	Author          []Reference           `json:"author"`
	Title           string                `json:"title"`
	Confidentiality string                `json:"confidentiality,omitempty"`
	Attester        []CompositionAttester `json:"attester,omitempty"`
	Custodian       *Reference            `json:"custodian,omitempty"`
	RelatesTo       []CompositionRelation `json:"relatesTo,omitempty"`
	Event           []CompositionEvent    `json:"event,omitempty"`
	Section         []CompositionSection  `json:"section,omitempty"`
}

// CompositionAttester is a party that attests a Composition.
type CompositionAttester struct {
	Mode  string     `json:"mode"`
	Time  string     `json:"time,omitempty"`
	Party *Reference `json:"party,omitempty"`
}

// CompositionRelation is a relation to another document, such as a replaced document.
type CompositionRelation struct {
	Code   string      `json:"code"`
	Target *Identifier `json:"targetIdentifier"`
}

// CompositionEvent is a service that a Composition documents.
type CompositionEvent struct {
	Code   []CodeableConcept `json:"code,omitempty"`
	Period *Period           `json:"period,omitempty"`
	Detail []Reference       `json:"detail,omitempty"`
}

// CompositionSection is a section with its narrative.
type CompositionSection struct {
	Title       string               `json:"title,omitempty"`
	Code        *CodeableConcept     `json:"code,omitempty"`
	Author      []Reference          `json:"author,omitempty"`
	Text        *Narrative           `json:"text,omitempty"`
	Entry       []Reference          `json:"entry,omitempty"`
	EmptyReason *CodeableConcept     `json:"emptyReason,omitempty"`
	Section     []CompositionSection `json:"section,omitempty"`
}

// Provenance is the FHIR Provenance resource (provenance.html).
type Provenance struct {
	Header

	Target          []Reference        `json:"target" merge:"union"`
	Occurred        string             `json:"occurredDateTime,omitempty"`
	OccurredPeriod  *Period            `json:"occurredPeriod,omitempty"`
	Recorded        string             `json:"recorded,omitempty"`
	RecordedElement *Element           `json:"_recorded,omitempty"`
	Activity        *CodeableConcept   `json:"activity,omitempty"`
	Agent           []ProvenanceAgent  `json:"agent"`
	Entity          []ProvenanceEntity `json:"entity,omitempty"`
}

// ProvenanceAgent is a party that participated in an activity.
type ProvenanceAgent struct {
	Type       *CodeableConcept `json:"type,omitempty"`
	Who        *Reference       `json:"who"`
	OnBehalfOf *Reference       `json:"onBehalfOf,omitempty"`
}

// ProvenanceEntity is a source that an activity used.
type ProvenanceEntity struct {
	Role string     `json:"role"`
	What *Reference `json:"what"`
}

// DocumentReference is the FHIR DocumentReference resource (documentreference.html).
type DocumentReference struct {
	Header

	Master        *Identifier               `json:"masterIdentifier,omitempty"`
	Identifier    []Identifier              `json:"identifier,omitempty" merge:"union"`
	Status        string                    `json:"status"`
	DocStatus     string                    `json:"docStatus,omitempty"`
	Type          *CodeableConcept          `json:"type,omitempty"`
	Category      []CodeableConcept         `json:"category,omitempty" merge:"union"`
	Subject       *Reference                `json:"subject,omitempty"`
	Date          string                    `json:"date,omitempty"`
	Author        []Reference               `json:"author,omitempty" merge:"union"`
	Authenticator *Reference                `json:"authenticator,omitempty"`
	Custodian     *Reference                `json:"custodian,omitempty"`
	RelatesTo     []DocumentRelation        `json:"relatesTo,omitempty"`
	Description   string                    `json:"description,omitempty"`
	Security      []CodeableConcept         `json:"securityLabel,omitempty" merge:"union"`
	Content       []DocumentContent         `json:"content"`
	Context       *DocumentReferenceContext `json:"context,omitempty"`
}

// DocumentRelation relates a document to another document.
type DocumentRelation struct {
	Code   string     `json:"code"`
	Target *Reference `json:"target"`
}

// DocumentContent is a document's content in one format.
type DocumentContent struct {
	Attachment *Attachment `json:"attachment"`
	Format     *Coding     `json:"format,omitempty"`
}

// DocumentReferenceContext holds a document's clinical context.
type DocumentReferenceContext struct {
	Encounter []Reference       `json:"encounter,omitempty"`
	Event     []CodeableConcept `json:"event,omitempty"`
	Period    *Period           `json:"period,omitempty"`
	Related   []Reference       `json:"related,omitempty"`
}

// Binary is the FHIR Binary resource (binary.html). Data is encoded in base64.
type Binary struct {
	Header

	ContentType string     `json:"contentType"`
	Security    *Reference `json:"securityContext,omitempty"`
	Data        []byte     `json:"data,omitempty" choice:"data"`
	Large       *Large     `json:"-" choice:"data"` // replaces Data
}
