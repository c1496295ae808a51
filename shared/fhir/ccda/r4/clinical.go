package r4

// Observation is the FHIR Observation resource (observation.html).
type Observation struct {
	Header
	Value

	Identifier      []Identifier      `json:"identifier,omitempty" merge:"union"`
	BasedOn         []Reference       `json:"basedOn,omitempty" merge:"union"`
	PartOf          []Reference       `json:"partOf,omitempty" merge:"union"`
	Status          string            `json:"status"`
	Category        []CodeableConcept `json:"category,omitempty" merge:"union"`
	Code            *CodeableConcept  `json:"code"`
	Subject         *Reference        `json:"subject,omitempty"`
	Focus           []Reference       `json:"focus,omitempty" merge:"union"`
	Encounter       *Reference        `json:"encounter,omitempty" merge:"first"`
	Effective       string            `json:"effectiveDateTime,omitempty" choice:"effective"`
	EffectivePeriod *Period           `json:"effectivePeriod,omitempty" choice:"effective"`
	EffectiveAbsent *Element          `json:"_effectiveDateTime,omitempty" choice:"effective"`
	Issued          string            `json:"issued,omitempty" merge:"first"`
	Performer       []Reference       `json:"performer,omitempty" merge:"union"`
	Absent          *CodeableConcept  `json:"dataAbsentReason,omitempty" choice:"value"`
	Interpretation  []CodeableConcept `json:"interpretation,omitempty" merge:"union"`
	Note            []Annotation      `json:"note,omitempty" merge:"union"`
	BodySite        *CodeableConcept  `json:"bodySite,omitempty"`
	Method          *CodeableConcept  `json:"method,omitempty"`
	Specimen        *Reference        `json:"specimen,omitempty"`
	Device          *Reference        `json:"device,omitempty"`
	ReferenceRange  []ReferenceRange  `json:"referenceRange,omitempty"`
	HasMember       []Reference       `json:"hasMember,omitempty" merge:"union"`
	DerivedFrom     []Reference       `json:"derivedFrom,omitempty" merge:"union"`
	Component       []Component       `json:"component,omitempty"`
}

// ReferenceRange is a range against which an observed value is compared.
type ReferenceRange struct {
	Low       *Quantity         `json:"low,omitempty"`
	High      *Quantity         `json:"high,omitempty"`
	Type      *CodeableConcept  `json:"type,omitempty"`
	AppliesTo []CodeableConcept `json:"appliesTo,omitempty"`
	Text      string            `json:"text,omitempty"`
}

// Component is a part of an Observation that is meaningless on its own.
type Component struct {
	Value

	Code           *CodeableConcept  `json:"code"`
	Absent         *CodeableConcept  `json:"dataAbsentReason,omitempty"`
	Interpretation []CodeableConcept `json:"interpretation,omitempty"`
	ReferenceRange []ReferenceRange  `json:"referenceRange,omitempty"`
}

// Condition is the FHIR Condition resource (condition.html).
type Condition struct {
	Header

	Identifier      []Identifier       `json:"identifier,omitempty" merge:"union"`
	ClinicalStatus  *CodeableConcept   `json:"clinicalStatus,omitempty"`
	Verification    *CodeableConcept   `json:"verificationStatus,omitempty"`
	Category        []CodeableConcept  `json:"category,omitempty" merge:"union"`
	Severity        *CodeableConcept   `json:"severity,omitempty"`
	Code            *CodeableConcept   `json:"code,omitempty"`
	BodySite        []CodeableConcept  `json:"bodySite,omitempty" merge:"union"`
	Subject         *Reference         `json:"subject"`
	Encounter       *Reference         `json:"encounter,omitempty" merge:"first"`
	Onset           string             `json:"onsetDateTime,omitempty" choice:"onset"`
	OnsetAge        *Quantity          `json:"onsetAge,omitempty" choice:"onset"`
	OnsetPeriod     *Period            `json:"onsetPeriod,omitempty" choice:"onset"`
	OnsetString     string             `json:"onsetString,omitempty" choice:"onset"`
	Abatement       string             `json:"abatementDateTime,omitempty" choice:"abatement"`
	AbatementString string             `json:"abatementString,omitempty" choice:"abatement"`
	AbatementAbsent *Element           `json:"_abatementDateTime,omitempty" choice:"abatement"`
	Recorded        string             `json:"recordedDate,omitempty" merge:"first"`
	Recorder        *Reference         `json:"recorder,omitempty" merge:"first"`
	Asserter        *Reference         `json:"asserter,omitempty" merge:"first"`
	Stage           []ConditionStage   `json:"stage,omitempty" merge:"union"`
	Evidence        []ConditionSupport `json:"evidence,omitempty" merge:"union"`
	Note            []Annotation       `json:"note,omitempty" merge:"union"`
}

// ConditionStage is the stage of a Condition.
type ConditionStage struct {
	Summary    *CodeableConcept `json:"summary,omitempty"`
	Assessment []Reference      `json:"assessment,omitempty"`
	Type       *CodeableConcept `json:"type,omitempty"`
}

// ConditionSupport is the evidence for a Condition.
type ConditionSupport struct {
	Code   []CodeableConcept `json:"code,omitempty"`
	Detail []Reference       `json:"detail,omitempty"`
}

// AllergyIntolerance is the FHIR AllergyIntolerance resource (allergyintolerance.html).
type AllergyIntolerance struct {
	Header

	Identifier     []Identifier      `json:"identifier,omitempty" merge:"union"`
	ClinicalStatus *CodeableConcept  `json:"clinicalStatus,omitempty"`
	Verification   *CodeableConcept  `json:"verificationStatus,omitempty"`
	Type           string            `json:"type,omitempty"`
	TypeText       Original          `json:"_type,omitempty" merge:"first"`
	Category       []string          `json:"category,omitempty" merge:"union"`
	Criticality    string            `json:"criticality,omitempty"`
	Code           *CodeableConcept  `json:"code,omitempty"`
	Patient        *Reference        `json:"patient"`
	Encounter      *Reference        `json:"encounter,omitempty" merge:"first"`
	Onset          string            `json:"onsetDateTime,omitempty" choice:"onset"`
	OnsetPeriod    *Period           `json:"onsetPeriod,omitempty" choice:"onset"`
	Recorded       string            `json:"recordedDate,omitempty" merge:"first"`
	Recorder       *Reference        `json:"recorder,omitempty" merge:"first"`
	Asserter       *Reference        `json:"asserter,omitempty" merge:"first"`
	LastOccurrence string            `json:"lastOccurrence,omitempty"`
	Note           []Annotation      `json:"note,omitempty" merge:"union"`
	Reaction       []AllergyReaction `json:"reaction,omitempty"`
}

// AllergyReaction is a reaction to a substance.
type AllergyReaction struct {
	Extension     []Extension       `json:"extension,omitempty"`
	Substance     *CodeableConcept  `json:"substance,omitempty"`
	Manifestation []CodeableConcept `json:"manifestation"`
	Description   string            `json:"description,omitempty"`
	Onset         string            `json:"onset,omitempty"`
	Severity      string            `json:"severity,omitempty"`
	ExposureRoute *CodeableConcept  `json:"exposureRoute,omitempty"`
	Note          []Annotation      `json:"note,omitempty"`
}

// Encounter is the FHIR Encounter resource (encounter.html).
type Encounter struct {
	Header

	Identifier      []Identifier           `json:"identifier,omitempty" merge:"union"`
	Status          string                 `json:"status"`
	Class           *Coding                `json:"class"`
	Type            []CodeableConcept      `json:"type,omitempty" merge:"union"`
	ServiceType     *CodeableConcept       `json:"serviceType,omitempty"`
	Priority        *CodeableConcept       `json:"priority,omitempty"`
	Subject         *Reference             `json:"subject,omitempty"`
	BasedOn         []Reference            `json:"basedOn,omitempty" merge:"union"`
	Participant     []EncounterParticipant `json:"participant,omitempty" merge:"union"`
	Period          *Period                `json:"period,omitempty"`
	Reason          []CodeableConcept      `json:"reasonCode,omitempty" merge:"union"`
	ReasonReference []Reference            `json:"reasonReference,omitempty" merge:"union"`
	Diagnosis       []EncounterDiagnosis   `json:"diagnosis,omitempty" merge:"union"`
	Hospitalization *EncounterHospital     `json:"hospitalization,omitempty"`
	Location        []EncounterLocation    `json:"location,omitempty" merge:"union"`
	Provider        *Reference             `json:"serviceProvider,omitempty"`
}

// EncounterParticipant is a participant in an Encounter.
type EncounterParticipant struct {
	Type       []CodeableConcept `json:"type,omitempty"`
	Period     *Period           `json:"period,omitempty"`
	Individual *Reference        `json:"individual,omitempty"`
}

// EncounterDiagnosis is a diagnosis relevant to an Encounter.
type EncounterDiagnosis struct {
	Condition *Reference       `json:"condition"`
	Use       *CodeableConcept `json:"use,omitempty"`
}

// EncounterHospital holds admission and discharge details.
type EncounterHospital struct {
	AdmitSource *CodeableConcept `json:"admitSource,omitempty"`
	Discharge   *CodeableConcept `json:"dischargeDisposition,omitempty"`
}

// EncounterLocation is a location of an Encounter.
type EncounterLocation struct {
	Location *Reference `json:"location"`
	Period   *Period    `json:"period,omitempty"`
}

// CareTeam is the FHIR CareTeam resource (careteam.html).
type CareTeam struct {
	Header

	Identifier  []Identifier          `json:"identifier,omitempty" merge:"union"`
	Status      string                `json:"status,omitempty"`
	Category    []CodeableConcept     `json:"category,omitempty" merge:"union"`
	Name        string                `json:"name,omitempty"`
	Subject     *Reference            `json:"subject,omitempty"`
	Encounter   *Reference            `json:"encounter,omitempty" merge:"first"`
	Period      *Period               `json:"period,omitempty"`
	Participant []CareTeamParticipant `json:"participant,omitempty" merge:"union"`
	Reason      []CodeableConcept     `json:"reasonCode,omitempty" merge:"union"`
	Managing    []Reference           `json:"managingOrganization,omitempty" merge:"union"`
	Note        []Annotation          `json:"note,omitempty" merge:"union"`
}

// CareTeamParticipant is a member of a CareTeam.
type CareTeamParticipant struct {
	Role       []CodeableConcept `json:"role,omitempty"`
	Member     *Reference        `json:"member,omitempty"`
	OnBehalfOf *Reference        `json:"onBehalfOf,omitempty"`
	Period     *Period           `json:"period,omitempty"`
}
