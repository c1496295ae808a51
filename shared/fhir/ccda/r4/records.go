package r4

// FamilyMemberHistory is the FHIR FamilyMemberHistory resource (familymemberhistory.html).
type FamilyMemberHistory struct {
	Header

	Identifier      []Identifier      `json:"identifier,omitempty" merge:"union"`
	Status          string            `json:"status"`
	Patient         *Reference        `json:"patient"`
	Date            string            `json:"date,omitempty" merge:"first"`
	Name            string            `json:"name,omitempty"`
	Relationship    *CodeableConcept  `json:"relationship"`
	Sex             *CodeableConcept  `json:"sex,omitempty"`
	Born            string            `json:"bornDate,omitempty"`
	DeceasedBoolean *bool             `json:"deceasedBoolean,omitempty" choice:"deceased"`
	DeceasedAge     *Quantity         `json:"deceasedAge,omitempty" choice:"deceased"`
	DeceasedDate    string            `json:"deceasedDate,omitempty" choice:"deceased"`
	Note            []Annotation      `json:"note,omitempty" merge:"union"`
	Condition       []FamilyCondition `json:"condition,omitempty" merge:"union"`
}

// FamilyCondition is a condition of a relative.
type FamilyCondition struct {
	Code        *CodeableConcept `json:"code"`
	Outcome     *CodeableConcept `json:"outcome,omitempty"`
	Contributed *bool            `json:"contributedToDeath,omitempty"`
	OnsetAge    *Quantity        `json:"onsetAge,omitempty"`
	OnsetPeriod *Period          `json:"onsetPeriod,omitempty"`
	Note        []Annotation     `json:"note,omitempty"`
}

// Coverage is the FHIR Coverage resource (coverage.html), which represents insurance or another payer.
type Coverage struct {
	Header

	Identifier   []Identifier     `json:"identifier,omitempty" merge:"union"`
	Status       string           `json:"status"`
	Type         *CodeableConcept `json:"type,omitempty"`
	PolicyHolder *Reference       `json:"policyHolder,omitempty"`
	Subscriber   *Reference       `json:"subscriber,omitempty"`
	SubscriberID string           `json:"subscriberId,omitempty"`
	Beneficiary  *Reference       `json:"beneficiary"`
	Relationship *CodeableConcept `json:"relationship,omitempty"`
	Period       *Period          `json:"period,omitempty"`
	Payor        []Reference      `json:"payor" merge:"union"`
	Class        []CoverageClass  `json:"class,omitempty" merge:"union"`
	Order        int              `json:"order,omitempty"`
}

// CoverageClass is a group or plan of a Coverage.
type CoverageClass struct {
	Type  *CodeableConcept `json:"type"`
	Value string           `json:"value"`
	Name  string           `json:"name,omitempty"`
}

// Consent is the FHIR Consent resource (consent.html), which represents a patient's decision.
type Consent struct {
	Header

	Identifier   []Identifier      `json:"identifier,omitempty" merge:"union"`
	Status       string            `json:"status"`
	Scope        *CodeableConcept  `json:"scope"`
	Category     []CodeableConcept `json:"category" merge:"union"`
	Patient      *Reference        `json:"patient"`
	DateTime     string            `json:"dateTime,omitempty" merge:"first"`
	Performer    []Reference       `json:"performer,omitempty" merge:"union"`
	Source       *Reference        `json:"sourceReference,omitempty"`
	PolicyRule   *CodeableConcept  `json:"policyRule"`
	Verification []ConsentVerified `json:"verification,omitempty" merge:"union"`
	Provision    *ConsentProvision `json:"provision,omitempty"`
}

// ConsentVerified records whether a Consent was verified, and with whom.
type ConsentVerified struct {
	Verified bool   `json:"verified"`
	Date     string `json:"verificationDate,omitempty"`
}

// ConsentProvision holds the content, period and parties of a Consent.
type ConsentProvision struct {
	Period *Period           `json:"period,omitempty"`
	Actor  []ConsentActor    `json:"actor,omitempty"`
	Code   []CodeableConcept `json:"code,omitempty"`
}

// ConsentActor is a party with a role in a Consent.
type ConsentActor struct {
	Role      *CodeableConcept `json:"role"`
	Reference *Reference       `json:"reference"`
}

// ImagingStudy is the FHIR ImagingStudy resource (imagingstudy.html).
type ImagingStudy struct {
	Header

	Identifier  []Identifier    `json:"identifier,omitempty" merge:"union"`
	Status      string          `json:"status"`
	Modality    []Coding        `json:"modality,omitempty" merge:"union"`
	Subject     *Reference      `json:"subject"`
	Encounter   *Reference      `json:"encounter,omitempty" merge:"first"`
	Started     string          `json:"started,omitempty"`
	Note        []Annotation    `json:"note,omitempty" merge:"union"`
	Description string          `json:"description,omitempty"`
	Series      []ImagingSeries `json:"series,omitempty" merge:"union"`
}

// ImagingSeries is a series of images of one modality.
type ImagingSeries struct {
	UID         string            `json:"uid"`
	Modality    *Coding           `json:"modality"`
	Description string            `json:"description,omitempty"`
	Started     string            `json:"started,omitempty"`
	Instance    []ImagingInstance `json:"instance,omitempty"`
}

// ImagingInstance is one object of a series, such as an image.
type ImagingInstance struct {
	UID      string  `json:"uid"`
	SOPClass *Coding `json:"sopClass"`
	Title    string  `json:"title,omitempty"`
}
