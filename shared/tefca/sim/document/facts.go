package document

// The code systems that documents use, by their OIDs.
const (
	SNOMED  = "2.16.840.1.113883.6.96"
	LOINC   = "2.16.840.1.113883.6.1"
	RxNorm  = "2.16.840.1.113883.6.88"
	CVX     = "2.16.840.1.113883.12.292"
	ICD10CM = "2.16.840.1.113883.6.90"
	NUCC    = "2.16.840.1.113883.6.101" // what providers do (Health Care Provider Taxonomy)

	actCode  = "2.16.840.1.113883.5.4"
	actClass = "2.16.840.1.113883.5.6"
	npi      = "2.16.840.1.113883.4.6"
)

// Code is a concept of a code system, with its ordinary name.
type Code struct{ System, Code, Name string }

// ID is an instance identifier (II): what stands in two documents under the same is the same thing.
type ID struct{ Root, Extension string }

// Dates are YYYY-MM-DD, and moments YYYYMMDDhhmm with an offset (+hhmm): what the sender's clock showed. Empty
// is not known, or not yet.

// Clinician is who treats and writes.
type Clinician struct {
	NPI           string
	Given, Family string
	Specialty     Code
}

// Noted tells who has written a fact down, and when: the same wherever the fact is told again.
type Noted struct {
	By Clinician
	At string // a moment
}

// Problem is a diagnosis.
type Problem struct {
	ID            ID
	Code, Billing Code
	From, To      string // dates
	Noted         Noted
}

// Allergy is one to a substance; Nothing is the statement that there is none.
type Allergy struct {
	ID                        ID
	Nothing                   bool
	Kind, Substance, Reaction Code
	Severity                  Code
	From                      string // a date
	Noted                     Noted
}

// Medication is a prescription.
type Medication struct {
	ID         ID
	Drug       Code
	Words      string // how it is taken
	Dose, Unit string // of the UCUM
	EveryHours string // empty: as needed
	Route      Code
	Reason     Code
	From, To   string // dates
	Noted      Noted
}

// Immunization is a vaccine that was given.
type Immunization struct {
	ID      ID
	Vaccine Code
	Noted   Noted
}

// Procedure is one that was done.
type Procedure struct {
	ID    ID
	Code  Code
	Noted Noted
}

// Visit is an encounter: a stay where it has more than a day.
type Visit struct {
	ID        ID
	Code      Code
	Inpatient bool
	From, To  string // moments
	Reason    Code
	By        Clinician
	At        Facility
}

// Panel is what was measured at once: vital signs, or a laboratory report.
type Panel struct {
	ID       ID
	Code     Code
	Measured []Measured
	Noted    Noted
}

// Measured is a value with the range in which it is usual, where there is one.
type Measured struct {
	ID               ID
	Code             Code
	Value, Unit      string // of the UCUM
	Low, High, Usual string // numbers; N, L or H
}

// Smoking is what is known of it at one time.
type Smoking struct {
	ID    ID
	Code  Code
	Noted Noted
}

// Note is a clinician's words about a visit.
type Note struct {
	ID    ID
	Words string
	Noted Noted
}
