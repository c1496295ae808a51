package r4

// MedicationRequest is the FHIR MedicationRequest resource (medicationrequest.html), which represents an order for
// medication.
type MedicationRequest struct {
	Header

	Identifier      []Identifier      `json:"identifier,omitempty" merge:"union"`
	Status          string            `json:"status"`
	Intent          string            `json:"intent"`
	Category        []CodeableConcept `json:"category,omitempty" merge:"union"`
	Priority        string            `json:"priority,omitempty"`
	DoNotPerform    *bool             `json:"doNotPerform,omitempty"`
	Reported        *bool             `json:"reportedBoolean,omitempty"`
	ReportedBy      *Reference        `json:"reportedReference,omitempty" merge:"first"`
	Medication      *CodeableConcept  `json:"medicationCodeableConcept,omitempty" choice:"medication"`
	MedicationRef   *Reference        `json:"medicationReference,omitempty" choice:"medication"`
	Subject         *Reference        `json:"subject"`
	Encounter       *Reference        `json:"encounter,omitempty" merge:"first"`
	AuthoredOn      string            `json:"authoredOn,omitempty" merge:"first"`
	Requester       *Reference        `json:"requester,omitempty" merge:"first"`
	Performer       *Reference        `json:"performer,omitempty"`
	Recorder        *Reference        `json:"recorder,omitempty" merge:"first"`
	Reason          []CodeableConcept `json:"reasonCode,omitempty" merge:"union"`
	ReasonReference []Reference       `json:"reasonReference,omitempty" merge:"union"`
	BasedOn         []Reference       `json:"basedOn,omitempty" merge:"union"`
	Note            []Annotation      `json:"note,omitempty" merge:"union"`
	Dosage          []Dosage          `json:"dosageInstruction,omitempty"`
	Dispense        *DispenseRequest  `json:"dispenseRequest,omitempty"`
}

// DispenseRequest states how much medication a pharmacy may dispense, and when.
type DispenseRequest struct {
	ValidityPeriod *Period    `json:"validityPeriod,omitempty"`
	Repeats        *int32     `json:"numberOfRepeatsAllowed,omitempty"`
	Quantity       *Quantity  `json:"quantity,omitempty"`
	Duration       *Quantity  `json:"expectedSupplyDuration,omitempty"`
	Performer      *Reference `json:"performer,omitempty"`
}

// MedicationAdministration is the FHIR MedicationAdministration resource (medicationadministration.html), which
// represents administered medication.
type MedicationAdministration struct {
	Header

	Identifier      []Identifier              `json:"identifier,omitempty" merge:"union"`
	Status          string                    `json:"status"`
	Category        *CodeableConcept          `json:"category,omitempty"`
	Medication      *CodeableConcept          `json:"medicationCodeableConcept,omitempty" choice:"medication"`
	MedicationRef   *Reference                `json:"medicationReference,omitempty" choice:"medication"`
	Subject         *Reference                `json:"subject"`
	Context         *Reference                `json:"context,omitempty" merge:"first"`
	Effective       string                    `json:"effectiveDateTime,omitempty" choice:"effective"`
	EffectivePeriod *Period                   `json:"effectivePeriod,omitempty" choice:"effective"`
	EffectiveAbsent *Element                  `json:"_effectiveDateTime,omitempty" choice:"effective"`
	Performer       []AdministrationPerformer `json:"performer,omitempty" merge:"union"`
	Reason          []CodeableConcept         `json:"reasonCode,omitempty" merge:"union"`
	ReasonReference []Reference               `json:"reasonReference,omitempty" merge:"union"`
	Note            []Annotation              `json:"note,omitempty" merge:"union"`
	Dosage          *AdministrationDosage     `json:"dosage,omitempty"`
}

// AdministrationPerformer is a party that administered medication.
type AdministrationPerformer struct {
	Function *CodeableConcept `json:"function,omitempty"`
	Actor    *Reference       `json:"actor"`
}

// AdministrationDosage describes how medication was administered.
type AdministrationDosage struct {
	Text         string           `json:"text,omitempty"`
	Site         *CodeableConcept `json:"site,omitempty"`
	Route        *CodeableConcept `json:"route,omitempty"`
	Method       *CodeableConcept `json:"method,omitempty"`
	Dose         *Quantity        `json:"dose,omitempty"`
	RateRatio    *Ratio           `json:"rateRatio,omitempty" choice:"rate"`
	RateQuantity *Quantity        `json:"rateQuantity,omitempty" choice:"rate"`
}

// MedicationDispense is the FHIR MedicationDispense resource (medicationdispense.html), which represents dispensed
// medication.
type MedicationDispense struct {
	Header

	Identifier    []Identifier              `json:"identifier,omitempty" merge:"union"`
	Status        string                    `json:"status"`
	Medication    *CodeableConcept          `json:"medicationCodeableConcept,omitempty" choice:"medication"`
	MedicationRef *Reference                `json:"medicationReference,omitempty" choice:"medication"`
	Subject       *Reference                `json:"subject,omitempty"`
	Performer     []AdministrationPerformer `json:"performer,omitempty" merge:"union"`
	Prescription  []Reference               `json:"authorizingPrescription,omitempty" merge:"union"`
	Type          *CodeableConcept          `json:"type,omitempty"`
	Quantity      *Quantity                 `json:"quantity,omitempty"`
	DaysSupply    *Quantity                 `json:"daysSupply,omitempty"`
	HandedOver    string                    `json:"whenHandedOver,omitempty"`
	Note          []Annotation              `json:"note,omitempty" merge:"union"`
	Dosage        []Dosage                  `json:"dosageInstruction,omitempty"`
}

// Medication is the FHIR Medication resource (medication.html), which represents a product that can't be described by a
// code alone.
type Medication struct {
	Header

	Identifier   []Identifier           `json:"identifier,omitempty" merge:"union"`
	Code         *CodeableConcept       `json:"code,omitempty"`
	Manufacturer *Reference             `json:"manufacturer,omitempty"`
	Form         *CodeableConcept       `json:"form,omitempty"`
	Ingredient   []MedicationIngredient `json:"ingredient,omitempty" merge:"union"`
	Batch        *MedicationBatch       `json:"batch,omitempty"`
}

// MedicationIngredient is an ingredient of a Medication.
type MedicationIngredient struct {
	Item     *CodeableConcept `json:"itemCodeableConcept"`
	IsActive *bool            `json:"isActive,omitempty"`
}

// MedicationBatch identifies the batch of a Medication.
type MedicationBatch struct {
	LotNumber string `json:"lotNumber,omitempty"`
}
