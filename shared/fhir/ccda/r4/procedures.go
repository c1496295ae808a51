package r4

// Procedure is the FHIR Procedure resource (procedure.html).
type Procedure struct {
	Header

	Identifier         []Identifier         `json:"identifier,omitempty" merge:"union"`
	BasedOn            []Reference          `json:"basedOn,omitempty" merge:"union"`
	PartOf             []Reference          `json:"partOf,omitempty" merge:"union"`
	Status             string               `json:"status"`
	StatusReason       *CodeableConcept     `json:"statusReason,omitempty"`
	Category           *CodeableConcept     `json:"category,omitempty"`
	Code               *CodeableConcept     `json:"code,omitempty"`
	Subject            *Reference           `json:"subject"`
	Encounter          *Reference           `json:"encounter,omitempty" merge:"first"`
	Performed          string               `json:"performedDateTime,omitempty" choice:"performed"`
	PerformedPeriod    *Period              `json:"performedPeriod,omitempty" choice:"performed"`
	PerformedAbsent    *Element             `json:"_performedDateTime,omitempty" choice:"performed"`
	Recorder           *Reference           `json:"recorder,omitempty" merge:"first"`
	Asserter           *Reference           `json:"asserter,omitempty" merge:"first"`
	Performer          []ProcedurePerformer `json:"performer,omitempty" merge:"union"`
	Location           *Reference           `json:"location,omitempty"`
	Reason             []CodeableConcept    `json:"reasonCode,omitempty" merge:"union"`
	ReasonReference    []Reference          `json:"reasonReference,omitempty" merge:"union"`
	BodySite           []CodeableConcept    `json:"bodySite,omitempty" merge:"union"`
	Outcome            *CodeableConcept     `json:"outcome,omitempty"`
	Report             []Reference          `json:"report,omitempty" merge:"union"`
	ComplicationDetail []Reference          `json:"complicationDetail,omitempty" merge:"union"`
	Note               []Annotation         `json:"note,omitempty" merge:"union"`
	FocalDevice        []FocalDevice        `json:"focalDevice,omitempty" merge:"union"`
}

// ProcedurePerformer is a performer of a Procedure.
type ProcedurePerformer struct {
	Function *CodeableConcept `json:"function,omitempty"`
	Actor    *Reference       `json:"actor"`
}

// FocalDevice is a device that was implanted, removed or changed.
type FocalDevice struct {
	Action      *CodeableConcept `json:"action,omitempty"`
	Manipulated *Reference       `json:"manipulated"`
}

// Immunization is the FHIR Immunization resource (immunization.html).
type Immunization struct {
	Header

	Identifier       []Identifier            `json:"identifier,omitempty" merge:"union"`
	Status           string                  `json:"status"`
	StatusReason     *CodeableConcept        `json:"statusReason,omitempty"`
	VaccineCode      *CodeableConcept        `json:"vaccineCode"`
	Patient          *Reference              `json:"patient"`
	Encounter        *Reference              `json:"encounter,omitempty" merge:"first"`
	Occurrence       string                  `json:"occurrenceDateTime,omitempty" choice:"occurrence"`
	OccurrenceAbsent *Element                `json:"_occurrenceDateTime,omitempty" choice:"occurrence"`
	Recorded         string                  `json:"recorded,omitempty" merge:"first"`
	NoPrimarySource  *Element                `json:"_primarySource,omitempty"`
	Location         *Reference              `json:"location,omitempty"`
	Manufacturer     *Reference              `json:"manufacturer,omitempty"`
	LotNumber        string                  `json:"lotNumber,omitempty"`
	ExpirationDate   string                  `json:"expirationDate,omitempty"`
	Site             *CodeableConcept        `json:"site,omitempty"`
	Route            *CodeableConcept        `json:"route,omitempty"`
	DoseQuantity     *Quantity               `json:"doseQuantity,omitempty"`
	Performer        []ImmunizationPerformer `json:"performer,omitempty" merge:"union"`
	Note             []Annotation            `json:"note,omitempty" merge:"union"`
	Reason           []CodeableConcept       `json:"reasonCode,omitempty" merge:"union"`
	ReasonReference  []Reference             `json:"reasonReference,omitempty" merge:"union"`
	Education        []ImmunizationEducation `json:"education,omitempty" merge:"union"`
	Reaction         []ImmunizationReaction  `json:"reaction,omitempty" merge:"union"`
	Protocol         []ImmunizationProtocol  `json:"protocolApplied,omitempty"`
}

// ImmunizationPerformer is a party that administered, ordered or recorded an Immunization.
type ImmunizationPerformer struct {
	Function *CodeableConcept `json:"function,omitempty"`
	Actor    *Reference       `json:"actor"`
}

// ImmunizationEducation describes educational material that the patient received.
type ImmunizationEducation struct {
	DocumentType    string `json:"documentType,omitempty"`
	Reference       string `json:"reference,omitempty"`
	PublicationDate string `json:"publicationDate,omitempty"`
}

// ImmunizationReaction describes a reaction to an Immunization.
type ImmunizationReaction struct {
	Date   string     `json:"date,omitempty"`
	Detail *Reference `json:"detail,omitempty"`
}

// ImmunizationProtocol identifies a vaccine series and the dose's number in it.
type ImmunizationProtocol struct {
	Series     string `json:"series,omitempty"`
	DoseNumber int32  `json:"doseNumberPositiveInt,omitempty"`
}

// SupplyDelivery is the FHIR SupplyDelivery resource (supplydelivery.html), which represents an item other than
// medication that was supplied to the patient.
type SupplyDelivery struct {
	Header

	Identifier       []Identifier  `json:"identifier,omitempty" merge:"union"`
	BasedOn          []Reference   `json:"basedOn,omitempty" merge:"union"`
	Status           string        `json:"status,omitempty"`
	Patient          *Reference    `json:"patient,omitempty"`
	SuppliedItem     *SuppliedItem `json:"suppliedItem,omitempty"`
	Occurrence       string        `json:"occurrenceDateTime,omitempty" choice:"occurrence"`
	OccurrencePeriod *Period       `json:"occurrencePeriod,omitempty" choice:"occurrence"`
	Supplier         *Reference    `json:"supplier,omitempty"`
}

// SuppliedItem holds the item and quantity of a SupplyDelivery.
type SuppliedItem struct {
	Quantity *Quantity        `json:"quantity,omitempty"`
	Item     *CodeableConcept `json:"itemCodeableConcept,omitempty" choice:"item"`
	ItemRef  *Reference       `json:"itemReference,omitempty" choice:"item"`
}
