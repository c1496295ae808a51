package r4

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Coding is a code from a code system (datatypes.html#Coding).
type Coding struct {
	System     string   `json:"system,omitempty"`
	SystemText Original `json:"_system,omitempty"` // name of a code system that has no URI
	Version    string   `json:"version,omitempty"`
	Code       string   `json:"code,omitempty"`
	Display    string   `json:"display,omitempty"`
}

// Original is the source text of a primitive that has no FHIR value. The text is stored in the element that accompanies
// the primitive, in the extension originalText (extension-originaltext.html).
type Original string

// MarshalJSON implements json.Marshaler.
func (o Original) MarshalJSON() ([]byte, error) {
	const url = "http://hl7.org/fhir/StructureDefinition/originalText"
	var element bytes.Buffer
	encoder := json.NewEncoder(&element)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(Element{Extension: []Extension{{URL: url, ValueString: string(o)}}}); err != nil {
		return nil, fmt.Errorf("r4: encode a text: %w", err)
	}
	return element.Bytes(), nil
}

// CodeableConcept is a concept represented by codes and text (datatypes.html#CodeableConcept).
type CodeableConcept struct {
	Extension []Extension `json:"extension,omitempty"`
	Coding    []Coding    `json:"coding,omitempty"`
	Text      string      `json:"text,omitempty"`
}

// Identifier identifies an entity in a namespace (datatypes.html#Identifier).
type Identifier struct {
	Extension []Extension      `json:"extension,omitempty"`
	Use       string           `json:"use,omitempty"`
	Type      *CodeableConcept `json:"type,omitempty"`
	System    string           `json:"system,omitempty"`
	Value     string           `json:"value,omitempty"`
	Assigner  *Reference       `json:"assigner,omitempty"`
}

// Reference points to a resource (references.html).
type Reference struct {
	Extension  []Extension `json:"extension,omitempty"`
	Reference  string      `json:"reference,omitempty"`
	Type       string      `json:"type,omitempty"`
	Identifier *Identifier `json:"identifier,omitempty"`
	Display    string      `json:"display,omitempty"`
}

// Quantity is a number with a unit. The number keeps its original digits (datatypes.html#Quantity).
type Quantity struct {
	Extension  []Extension `json:"extension,omitempty"`
	Value      json.Number `json:"value,omitempty"`
	Comparator string      `json:"comparator,omitempty"`
	Unit       string      `json:"unit,omitempty"`
	System     string      `json:"system,omitempty"`
	Code       string      `json:"code,omitempty"`
}

// Range is a range with two bounds, one of which may be missing (datatypes.html#Range).
type Range struct {
	Low  *Quantity `json:"low,omitempty"`
	High *Quantity `json:"high,omitempty"`
}

// Ratio is a ratio of two quantities (datatypes.html#Ratio).
type Ratio struct {
	Numerator   *Quantity `json:"numerator,omitempty"`
	Denominator *Quantity `json:"denominator,omitempty"`
}

// Period is a time period with a start and an end, one of which may be missing (datatypes.html#Period).
type Period struct {
	Extension []Extension `json:"extension,omitempty"`
	Start     string      `json:"start,omitempty"`
	End       string      `json:"end,omitempty"`
}

// Annotation is a note with its author and time (datatypes.html#Annotation).
type Annotation struct {
	AuthorReference *Reference `json:"authorReference,omitempty"`
	Time            string     `json:"time,omitempty"`
	Text            string     `json:"text"`
}

// Attachment is content in another format (datatypes.html#Attachment). Data is encoded in base64.
type Attachment struct {
	ContentType string `json:"contentType,omitempty"`
	Language    string `json:"language,omitempty"`
	Data        []byte `json:"data,omitempty"`
	Large       *Large `json:"-"` // replaces Data
	URL         string `json:"url,omitempty"`
	Title       string `json:"title,omitempty"`
	Creation    string `json:"creation,omitempty"`
}

// HumanName is a person's name (datatypes.html#HumanName).
type HumanName struct {
	Extension []Extension `json:"extension,omitempty"`
	Use       string      `json:"use,omitempty"`
	Text      string      `json:"text,omitempty"`
	Family    string      `json:"family,omitempty"`
	Given     []string    `json:"given,omitempty"`
	Prefix    []string    `json:"prefix,omitempty"`
	Suffix    []string    `json:"suffix,omitempty"`
	Period    *Period     `json:"period,omitempty"`
}

// Address is a postal address (datatypes.html#Address).
type Address struct {
	Use        string   `json:"use,omitempty"`
	Type       string   `json:"type,omitempty"`
	Text       string   `json:"text,omitempty"`
	Line       []string `json:"line,omitempty"`
	City       string   `json:"city,omitempty"`
	District   string   `json:"district,omitempty"`
	State      string   `json:"state,omitempty"`
	PostalCode string   `json:"postalCode,omitempty"`
	Country    string   `json:"country,omitempty"`
	Period     *Period  `json:"period,omitempty"`
}

// ContactPoint is a telephone number, email address or web page (datatypes.html#ContactPoint).
type ContactPoint struct {
	System string  `json:"system,omitempty"`
	Value  string  `json:"value,omitempty"`
	Use    string  `json:"use,omitempty"`
	Period *Period `json:"period,omitempty"`
}

// Value is the value[x] of an observation or a component. At most one field is set.
type Value struct {
	ValueQuantity        *Quantity        `json:"valueQuantity,omitempty" choice:"value"`
	ValueCodeableConcept *CodeableConcept `json:"valueCodeableConcept,omitempty" choice:"value"`
	ValueString          string           `json:"valueString,omitempty" choice:"value"`
	ValueBoolean         *bool            `json:"valueBoolean,omitempty" choice:"value"`
	ValueInteger         *int32           `json:"valueInteger,omitempty" choice:"value"`
	ValueRange           *Range           `json:"valueRange,omitempty" choice:"value"`
	ValueRatio           *Ratio           `json:"valueRatio,omitempty" choice:"value"`
	ValueTime            string           `json:"valueTime,omitempty" choice:"value"`
	ValueDateTime        string           `json:"valueDateTime,omitempty" choice:"value"`
	ValuePeriod          *Period          `json:"valuePeriod,omitempty" choice:"value"`
}

// Extension holds a value for which FHIR has no element (extensibility.html). Either Extension or exactly one value is
// set.
type Extension struct {
	URL                  string           `json:"url"`
	Extension            []Extension      `json:"extension,omitempty"`
	ValueBoolean         *bool            `json:"valueBoolean,omitempty"`
	ValueCode            string           `json:"valueCode,omitempty"`
	ValueDateTime        string           `json:"valueDateTime,omitempty"`
	ValueString          string           `json:"valueString,omitempty"`
	ValueURI             string           `json:"valueUri,omitempty"`
	ValueAddress         *Address         `json:"valueAddress,omitempty"`
	ValueCodeableConcept *CodeableConcept `json:"valueCodeableConcept,omitempty"`
	ValueCoding          *Coding          `json:"valueCoding,omitempty"`
	ValueQuantity        *Quantity        `json:"valueQuantity,omitempty"`
	ValueReference       *Reference       `json:"valueReference,omitempty"`
	ValueTiming          *Timing          `json:"valueTiming,omitempty"`
}

// Element accompanies a primitive that has no value (json.html#primitive).
type Element struct {
	Extension []Extension `json:"extension,omitempty"`
}

// Dosage describes how medication is taken (dosage.html).
type Dosage struct {
	Sequence                 int               `json:"sequence,omitempty"`
	Text                     string            `json:"text,omitempty"`
	AdditionalInstruction    []CodeableConcept `json:"additionalInstruction,omitempty"`
	PatientInstruction       string            `json:"patientInstruction,omitempty"`
	Timing                   *Timing           `json:"timing,omitempty"`
	AsNeededBoolean          *bool             `json:"asNeededBoolean,omitempty"`
	AsNeededCodeableConcept  *CodeableConcept  `json:"asNeededCodeableConcept,omitempty"`
	Site                     *CodeableConcept  `json:"site,omitempty"`
	Route                    *CodeableConcept  `json:"route,omitempty"`
	Method                   *CodeableConcept  `json:"method,omitempty"`
	DoseAndRate              []DoseAndRate     `json:"doseAndRate,omitempty"`
	MaxDosePerPeriod         *Ratio            `json:"maxDosePerPeriod,omitempty"`
	MaxDosePerAdministration *Quantity         `json:"maxDosePerAdministration,omitempty"`
}

// DoseAndRate holds the amount and rate of a dose (dosage.html).
type DoseAndRate struct {
	DoseRange    *Range    `json:"doseRange,omitempty"`
	DoseQuantity *Quantity `json:"doseQuantity,omitempty"`
	RateRatio    *Ratio    `json:"rateRatio,omitempty"`
	RateRange    *Range    `json:"rateRange,omitempty"`
	RateQuantity *Quantity `json:"rateQuantity,omitempty"`
}

// Timing describes when and how often something happens (datatypes.html#Timing).
type Timing struct {
	Event  []string         `json:"event,omitempty"`
	Repeat *Repeat          `json:"repeat,omitempty"`
	Code   *CodeableConcept `json:"code,omitempty"`
}

// Repeat holds the recurrence rule of a Timing.
type Repeat struct {
	BoundsDuration *Quantity   `json:"boundsDuration,omitempty"`
	BoundsPeriod   *Period     `json:"boundsPeriod,omitempty"`
	Count          int         `json:"count,omitempty"`
	Duration       json.Number `json:"duration,omitempty"`
	DurationUnit   string      `json:"durationUnit,omitempty"`
	Frequency      int         `json:"frequency,omitempty"`
	Period         json.Number `json:"period,omitempty"`
	PeriodMax      json.Number `json:"periodMax,omitempty"`
	PeriodUnit     string      `json:"periodUnit,omitempty"`
	DayOfWeek      []string    `json:"dayOfWeek,omitempty"`
	TimeOfDay      []string    `json:"timeOfDay,omitempty"`
	When           []string    `json:"when,omitempty"`
	Offset         int         `json:"offset,omitempty"`
}
