package r4

// ServiceRequest is the FHIR ServiceRequest resource (servicerequest.html), which represents a planned procedure, test
// or service.
type ServiceRequest struct {
	Header

	Identifier        []Identifier      `json:"identifier,omitempty" merge:"union"`
	BasedOn           []Reference       `json:"basedOn,omitempty" merge:"union"`
	Status            string            `json:"status"`
	Intent            string            `json:"intent"`
	Category          []CodeableConcept `json:"category,omitempty" merge:"union"`
	Priority          string            `json:"priority,omitempty"`
	DoNotPerform      *bool             `json:"doNotPerform,omitempty"`
	Code              *CodeableConcept  `json:"code,omitempty"`
	OrderDetail       []CodeableConcept `json:"orderDetail,omitempty" merge:"union"`
	Subject           *Reference        `json:"subject"`
	Encounter         *Reference        `json:"encounter,omitempty" merge:"first"`
	Occurrence        string            `json:"occurrenceDateTime,omitempty" choice:"occurrence"`
	OccurrencePeriod  *Period           `json:"occurrencePeriod,omitempty" choice:"occurrence"`
	AuthoredOn        string            `json:"authoredOn,omitempty" merge:"first"`
	Requester         *Reference        `json:"requester,omitempty" merge:"first"`
	PerformerType     *CodeableConcept  `json:"performerType,omitempty"`
	Performer         []Reference       `json:"performer,omitempty" merge:"union"`
	LocationReference []Reference       `json:"locationReference,omitempty" merge:"union"`
	Reason            []CodeableConcept `json:"reasonCode,omitempty" merge:"union"`
	ReasonReference   []Reference       `json:"reasonReference,omitempty" merge:"union"`
	Insurance         []Reference       `json:"insurance,omitempty" merge:"union"`
	SupportingInfo    []Reference       `json:"supportingInfo,omitempty" merge:"union"`
	BodySite          []CodeableConcept `json:"bodySite,omitempty" merge:"union"`
	Note              []Annotation      `json:"note,omitempty" merge:"union"`
	Instruction       string            `json:"patientInstruction,omitempty"`
}

// DeviceRequest is the FHIR DeviceRequest resource (devicerequest.html), which represents a planned device or supply.
type DeviceRequest struct {
	Header

	Identifier       []Identifier      `json:"identifier,omitempty" merge:"union"`
	Status           string            `json:"status,omitempty"`
	Intent           string            `json:"intent"`
	Code             *CodeableConcept  `json:"codeCodeableConcept"`
	Parameter        []Parameter       `json:"parameter,omitempty"`
	Subject          *Reference        `json:"subject"`
	Occurrence       string            `json:"occurrenceDateTime,omitempty" choice:"occurrence"`
	OccurrencePeriod *Period           `json:"occurrencePeriod,omitempty" choice:"occurrence"`
	AuthoredOn       string            `json:"authoredOn,omitempty" merge:"first"`
	Requester        *Reference        `json:"requester,omitempty" merge:"first"`
	Performer        *Reference        `json:"performer,omitempty"`
	Reason           []CodeableConcept `json:"reasonCode,omitempty" merge:"union"`
	Note             []Annotation      `json:"note,omitempty" merge:"union"`
}

// Parameter is a detail of a requested device or supply.
type Parameter struct {
	Code          *CodeableConcept `json:"code,omitempty"`
	ValueQuantity *Quantity        `json:"valueQuantity,omitempty"`
}
