package persona

import "time"

// spec holds the settings of a generated persona; they alone determine its record.
type spec struct {
	id            string
	given, family string
	about         string
	gender        string
	birth         string // YYYY-MM-DD
	size          int    // exact number of resources in the record
	firstVisit    string // YYYY-MM-DD
	visitEvery    time.Duration
	chronic       code
	unusual       bool // whether the record includes valid but unusual data (people.go)
}

const day = 24 * time.Hour

func (s spec) patientID() string { return "patient-" + s.id }

func builtinSpecs() []spec {
	return []spec{
		{
			id: "juniper-vale", given: "Juniper", family: "Vale", gender: "female", birth: "2004-05-17",
			about: "Hardly ever sees a doctor: the smallest record that is still a record.",
			size:  8, firstVisit: "2025-09-02", visitEvery: 90 * day,
			chronic: code{snomed, "61582004", "Allergic rhinitis"},
		},
		{
			id: "linden-moss", given: "Linden", family: "Moss", gender: "other", birth: "1971",
			about: "Valid but awkward data: scripts and emoji, partial dates, contained resources, a large attachment.",
			size:  32, firstVisit: "2024-02-29", visitEvery: 60 * day, unusual: true,
			chronic: code{snomed, "396275006", "Osteoarthritis"},
		},
		{
			id: "alder-maple", given: "Alder", family: "Maple", gender: "male", birth: "1985-11-03",
			about: "A healthy adult with a few years of check-ups.",
			size:  75, firstVisit: "2023-01-10", visitEvery: 180 * day,
			chronic: code{snomed, "55822004", "Hyperlipidemia"},
		},
		{
			id: "rowan-birch", given: "Rowan", family: "Birch", gender: "female", birth: "2017-03-21",
			about: "A child with asthma: vaccines and sick visits.",
			size:  200, firstVisit: "2020-06-15", visitEvery: 120 * day,
			chronic: code{snomed, "195967001", "Asthma"},
		},
		{
			id: "willow-ash", given: "Willow", family: "Ash", gender: "female", birth: "1962-08-09",
			about: "Diabetes, with laboratory results through the years.",
			size:  450, firstVisit: "2020-01-08", visitEvery: 75 * day,
			chronic: code{snomed, "44054006", "Diabetes mellitus type 2"},
		},
		{
			id: "hazel-fern", given: "Hazel", family: "Fern", gender: "male", birth: "1950-12-30",
			about: "A busy decade: many visits, procedures and clinical notes.",
			size:  900, firstVisit: "2016-04-04", visitEvery: 60 * day,
			chronic: code{snomed, "38341003", "Hypertensive disorder"},
		},
		{
			id: "cedar-brook", given: "Cedar", family: "Brook", gender: "female", birth: "1944-02-14",
			about: "A long chronic illness: the largest record, for paging and resuming.",
			size:  2000, firstVisit: "2012-01-05", visitEvery: 30 * day,
			chronic: code{snomed, "84114007", "Heart failure"},
		},
	}
}

// generatedTypes lists, in sorted order, every type that the generator can produce. A test compares this list with the
// generated records.
var generatedTypes = []string{
	"AllergyIntolerance", "Binary", "CarePlan", "CareTeam", "Claim", "Condition", "Coverage", "Device",
	"DiagnosticReport", "DocumentReference", "Encounter", "ExplanationOfBenefit", "FamilyMemberHistory", "Goal",
	"Immunization", "Location", "Medication", "MedicationRequest", "Observation", "Organization", "Patient",
	"Practitioner", "Procedure", "Provenance", "RelatedPerson", "ServiceRequest", "Specimen",
}
