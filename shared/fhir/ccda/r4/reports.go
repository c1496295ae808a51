package r4

// DiagnosticReport is the FHIR DiagnosticReport resource (diagnosticreport.html), which represents a group of related
// results.
type DiagnosticReport struct {
	Header

	Identifier      []Identifier      `json:"identifier,omitempty" merge:"union"`
	BasedOn         []Reference       `json:"basedOn,omitempty" merge:"union"`
	Status          string            `json:"status"`
	Category        []CodeableConcept `json:"category,omitempty" merge:"union"`
	Code            *CodeableConcept  `json:"code"`
	Subject         *Reference        `json:"subject,omitempty"`
	Encounter       *Reference        `json:"encounter,omitempty" merge:"first"`
	Effective       string            `json:"effectiveDateTime,omitempty" choice:"effective"`
	EffectivePeriod *Period           `json:"effectivePeriod,omitempty" choice:"effective"`
	Issued          string            `json:"issued,omitempty" merge:"first"`
	Performer       []Reference       `json:"performer,omitempty" merge:"union"`
	Specimen        []Reference       `json:"specimen,omitempty" merge:"union"`
	Result          []Reference       `json:"result,omitempty" merge:"union"`
	Conclusion      string            `json:"conclusion,omitempty"`
	PresentedForm   []Attachment      `json:"presentedForm,omitempty" merge:"union"`
}

// Specimen is the FHIR Specimen resource (specimen.html).
type Specimen struct {
	Header

	Identifier []Identifier        `json:"identifier,omitempty" merge:"union"`
	Type       *CodeableConcept    `json:"type,omitempty"`
	Subject    *Reference          `json:"subject,omitempty"`
	Collection *SpecimenCollection `json:"collection,omitempty"`
	Condition  []CodeableConcept   `json:"condition,omitempty" merge:"union"`
	Note       []Annotation        `json:"note,omitempty" merge:"union"`
}

// SpecimenCollection describes how a Specimen was collected.
type SpecimenCollection struct {
	Collector       *Reference       `json:"collector,omitempty"`
	Collected       string           `json:"collectedDateTime,omitempty" choice:"collected"`
	CollectedPeriod *Period          `json:"collectedPeriod,omitempty" choice:"collected"`
	Quantity        *Quantity        `json:"quantity,omitempty"`
	Method          *CodeableConcept `json:"method,omitempty"`
	BodySite        *CodeableConcept `json:"bodySite,omitempty"`
}
