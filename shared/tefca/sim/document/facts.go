package document

// The code systems that documents use, by their OIDs.
const (
	SNOMED  = "2.16.840.1.113883.6.96"
	LOINC   = "2.16.840.1.113883.6.1"
	RxNorm  = "2.16.840.1.113883.6.88"
	CVX     = "2.16.840.1.113883.12.292"
	ICD10CM = "2.16.840.1.113883.6.90"
	NUCC    = "2.16.840.1.113883.6.101" // Health Care Provider Taxonomy

	actCode  = "2.16.840.1.113883.5.4"
	actClass = "2.16.840.1.113883.5.6"
	npi      = "2.16.840.1.113883.4.6"
)

// Code is a concept of a code system, with its common name.
type Code struct{ System, Code, Name string }

// ID is an instance identifier (II). Facts with the same id in two documents are the same fact.
type ID struct{ Root, Extension string }

// Dates are YYYY-MM-DD. Moments are YYYYMMDDhhmm with an offset (+hhmm), in the sender's local time. Empty means
// unknown, or not yet.

// Clinician is the person who treats the patient and writes documents.
type Clinician struct {
	NPI           string
	Given, Family string
	Specialty     Code
}

// Noted states who recorded a fact and when. It is the same wherever the fact is repeated.
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

// Allergy is an allergy to a substance; Nothing states that there is none.
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
	Dose, Unit string // a UCUM unit
	EveryHours string // empty: as needed
	Route      Code
	Reason     Code
	From, To   string // dates
	Noted      Noted
}

// Immunization is a given vaccine.
type Immunization struct {
	ID      ID
	Vaccine Code
	Noted   Noted
}

// Procedure is a performed procedure.
type Procedure struct {
	ID    ID
	Code  Code
	Noted Noted
}

// Visit is an encounter. One that lasts more than a day is a stay.
type Visit struct {
	ID        ID
	Code      Code
	Inpatient bool
	From, To  string // dates and times
	Reason    Code
	By        Clinician
	At        Facility
}

// Panel holds values measured together: vital signs, or a laboratory report.
type Panel struct {
	ID       ID
	Code     Code
	Measured []Measured
	Noted    Noted
}

// Measured is a value with its reference range, if there is one.
type Measured struct {
	ID               ID
	Code             Code
	Value, Unit      string // a UCUM unit
	Low, High, Usual string // numbers; N, L or H
}

// Smoking is the smoking status at one time.
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
