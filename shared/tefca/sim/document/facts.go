package document

// OIDs of the code systems that documents use.
const (
	SNOMED  = "2.16.840.1.113883.6.96"
	LOINC   = "2.16.840.1.113883.6.1"
	RxNorm  = "2.16.840.1.113883.6.88"
	CVX     = "2.16.840.1.113883.12.292"
	ICD10CM = "2.16.840.1.113883.6.90"
	NUCC    = "2.16.840.1.113883.6.101" // OID of the Health Care Provider Taxonomy

	actCode  = "2.16.840.1.113883.5.4"
	actClass = "2.16.840.1.113883.5.6"
	npi      = "2.16.840.1.113883.4.6"
)

// Code is a concept from a code system, with its usual name.
type Code struct{ System, Code, Name string }

// ID is an instance identifier (II). Facts with the same ID in different documents are the same fact.
type ID struct{ Root, Extension string }

// Dates are formatted as YYYY-MM-DD. Times are formatted as YYYYMMDDhhmm with an offset (+hhmm), in the sender's local
// time. An empty value means that the time is unknown or lies in the future.

// Clinician treats the patient and writes documents.
type Clinician struct {
	NPI           string
	Given, Family string
	Specialty     Code
}

// Noted identifies who recorded a fact and when. In all documents that repeat a fact, the fact's Noted is the same.
type Noted struct {
	By Clinician
	At string // date and time
}

// Problem is a diagnosis.
type Problem struct {
	ID            ID
	Code, Billing Code
	From, To      string // dates
	Noted         Noted
}

// Allergy is an allergy to a substance. If Nothing is set, the Allergy states that the patient has no known allergies.
type Allergy struct {
	ID                        ID
	Nothing                   bool
	Kind, Substance, Reaction Code
	Severity                  Code
	From                      string // date
	Noted                     Noted
}

// Medication is a prescription.
type Medication struct {
	ID         ID
	Drug       Code
	Words      string // instructions
	Dose, Unit string // Unit is a UCUM unit
	EveryHours string // empty for a medication taken as needed
	Route      Code
	Reason     Code
	From, To   string // dates
	Noted      Noted
}

// Immunization is an administered vaccine.
type Immunization struct {
	ID      ID
	Vaccine Code
	Noted   Noted
}

// Procedure is a procedure that was performed.
type Procedure struct {
	ID    ID
	Code  Code
	Noted Noted
}

// Visit is an encounter. A visit that lasts more than one day is an inpatient stay.
type Visit struct {
	ID        ID
	Code      Code
	Inpatient bool
	From, To  string // dates and times
	Reason    Code
	By        Clinician
	At        Facility
}

// Panel holds values that were measured together, such as vital signs or a laboratory report.
type Panel struct {
	ID       ID
	Code     Code
	Measured []Measured
	Noted    Noted
}

// Measured is a measured value with its reference range, if known.
type Measured struct {
	ID               ID
	Code             Code
	Value, Unit      string // Unit is a UCUM unit
	Low, High, Usual string // Low and High are numeric limits; Usual is N, L or H
}

// Smoking is a patient's smoking status at a point in time.
type Smoking struct {
	ID    ID
	Code  Code
	Noted Noted
}

// Note is a clinician's note about a visit.
type Note struct {
	ID    ID
	Words string
	Noted Noted
}
