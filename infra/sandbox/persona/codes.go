package persona

type code struct{ system, code, display string }

// measure is a vital sign or laboratory measurement with its LOINC code, unit, and plausible range in steps.
type measure struct {
	loinc, display, unit string
	low, step            float64
	steps                int
}

var vitalSigns = []measure{
	{"8867-4", "Heart rate", "/min", 58, 1, 40},
	{"9279-1", "Respiratory rate", "/min", 12, 1, 8},
	{"8310-5", "Body temperature", "Cel", 36.1, 0.25, 6},
	{"59408-5", "Oxygen saturation by pulse oximetry", "%", 94, 1, 6},
	{"29463-7", "Body weight", "kg", 61.5, 0.5, 50},
	{"39156-5", "Body mass index", "kg/m2", 20.5, 0.25, 40},
}

type panel struct {
	loinc, display string
	measures       []measure
}

var laboratoryPanels = []panel{
	{"24323-8", "Comprehensive metabolic panel", []measure{
		{"2345-7", "Glucose", "mg/dL", 74, 1, 90},
		{"3094-0", "Urea nitrogen", "mg/dL", 7, 0.5, 30},
		{"2160-0", "Creatinine", "mg/dL", 0.5, 0.125, 8},
		{"2951-2", "Sodium", "mmol/L", 134, 1, 12},
		{"2823-3", "Potassium", "mmol/L", 3.5, 0.25, 8},
		{"17861-6", "Calcium", "mg/dL", 8.5, 0.25, 8},
	}},
	{"58410-2", "Complete blood count panel", []measure{
		{"6690-2", "Leukocytes", "10*3/uL", 4, 0.25, 28},
		{"789-8", "Erythrocytes", "10*6/uL", 4, 0.125, 12},
		{"718-7", "Hemoglobin", "g/dL", 11.5, 0.25, 24},
		{"4544-3", "Hematocrit", "%", 35, 0.5, 30},
		{"777-3", "Platelets", "10*3/uL", 150, 5, 50},
	}},
	{"24331-1", "Lipid panel", []measure{
		{"2093-3", "Cholesterol", "mg/dL", 140, 2, 60},
		{"2571-8", "Triglyceride", "mg/dL", 60, 3, 60},
		{"2085-9", "Cholesterol in HDL", "mg/dL", 35, 1, 40},
	}},
}

var acuteConditions = []code{
	{snomed, "10509002", "Acute bronchitis"},
	{snomed, "444814009", "Viral sinusitis"},
	{snomed, "195662009", "Acute viral pharyngitis"},
	{snomed, "44465007", "Sprain of ankle"},
}

var allergens = []code{
	{snomed, "91935009", "Allergy to peanut"},
	{snomed, "91936005", "Allergy to penicillin"},
	{snomed, "300916003", "Latex allergy"},
}

var drugs = []code{
	{rxnorm, "314076", "lisinopril 10 MG Oral Tablet"},
	{rxnorm, "860975", "24 HR metformin hydrochloride 500 MG Extended Release Oral Tablet"},
	{rxnorm, "197361", "amlodipine 5 MG Oral Tablet"},
	{rxnorm, "310798", "hydrochlorothiazide 25 MG Oral Tablet"},
	{rxnorm, "313782", "acetaminophen 325 MG Oral Tablet"},
}

var vaccines = []code{
	{cvx, "140", "Influenza, seasonal, injectable, preservative free"},
	{cvx, "113", "Td (adult), 5 Lf tetanus toxoid, preservative free, adsorbed"},
	{cvx, "33", "Pneumococcal polysaccharide PPV23"},
	{cvx, "08", "Hep B, adolescent or pediatric"},
}

var procedures = []code{
	{snomed, "127783003", "Spirometry"},
	{snomed, "430193006", "Medication reconciliation"},
	{snomed, "171207006", "Depression screening"},
	{snomed, "399208008", "Plain chest X-ray"},
}

var noteTypes = []code{
	{loinc, "11506-3", "Progress note"},
	{loinc, "34117-2", "History and physical note"},
	{loinc, "18842-5", "Discharge summary"},
	{loinc, "11488-4", "Consult note"},
}
