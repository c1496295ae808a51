package allergies

import "recordbridge/shared/fhir/ccda/terms"

// kinds maps the observation's value to the allergy's type and category. The sources are C-CDA on FHIR, ConceptMaps
// CF-AllergyIntoleranceType and CF-AllergyIntoleranceCategory, and the older value set
// 2.16.840.1.113883.3.88.12.3221.6.2. A hyphen marks an empty column.
const kinds terms.Table = `
416098002 allergy medication
414285001 allergy food
419199007 allergy -
426232007 allergy environment
59037007 intolerance medication
235719002 intolerance food
418471000 - food
419511003 - medication
420134006 - -
418038007 - -
232347008 allergy environment
DALG allergy medication
FALG allergy food
EALG allergy environment
DINT intolerance medication
FINT intolerance food
EINT intolerance environment
DNAINT intolerance medication
FNAINT intolerance food
ENAINT intolerance environment
`

// statuses maps the value of an Allergy Status Observation, or the word used in older documents, to
// allergyintolerance-clinical (C-CDA on FHIR, ConceptMap CF-AllergyStatus).
const statuses terms.Table = `
55561003 active
active active
73425007 inactive
inactive inactive
413322009 resolved
resolved resolved
`

// none maps the kind of a negated allergy to a "no known allergy" code and its display (C-CDA on FHIR, ConceptMap
// CF-NoKnownAllergies). The table also contains equivalent codes, including some from older documents. Any other kind
// maps to "no known allergies".
const none terms.Table = `
416098002 409137002 No known drug allergy
419511003 409137002 No known drug allergy
59037007 409137002 No known drug allergy
DALG 409137002 No known drug allergy
414285001 429625007 No known food allergy
418471000 429625007 No known food allergy
235719002 429625007 No known food allergy
FALG 429625007 No known food allergy
426232007 428607008 No known environmental allergy
232347008 428607008 No known environmental allergy
EALG 428607008 No known environmental allergy
`

// noneOf maps a negated substance to the code and display text for "no known allergy" to that substance (C-CDA on FHIR,
// "Allergies", row participant: latex). The table also contains substance classes that older documents use instead of a
// nullFlavor.
const noneOf terms.Table = `
111088007 1003774007 No known latex allergy
105590001 716186003 No known allergy
410942007 409137002 No known drug allergy
373873005 409137002 No known drug allergy
255620007 429625007 No known food allergy
762766007 429625007 No known food allergy
`

// noneInWords maps text in the substance field to a "no known allergy" code and its display. Underscores stand for
// spaces.
const noneInWords terms.Table = `
no_known_allergies 716186003 No known allergy
no_known_allergy 716186003 No known allergy
no_known_allergens 716186003 No known allergy
no_known_active_allergies 716186003 No known allergy
nka 716186003 No known allergy
no_known_drug_allergies 409137002 No known drug allergy
no_known_drug_allergy 409137002 No known drug allergy
no_known_medication_allergies 409137002 No known drug allergy
nkda 409137002 No known drug allergy
no_known_food_allergies 429625007 No known food allergy
no_known_food_allergy 429625007 No known food allergy
no_known_environmental_allergies 428607008 No known environmental allergy
no_known_environmental_allergy 428607008 No known environmental allergy
no_known_latex_allergy 1003774007 No known latex allergy
`

// criticalities maps a Criticality Observation's value to allergy-intolerance-criticality (C-CDA on FHIR, ConceptMap
// CF-Criticality).
const criticalities terms.Table = `
CRITH high
CRITL low
CRITU unable-to-assess
`

// severities maps the value of a Severity Observation to reaction-event-severity (C-CDA on FHIR, ConceptMap
// CF-Severity). A value between two levels maps to the higher one.
const severities terms.Table = `
255604002 mild
6736007 moderate
371923003 moderate
24484000 severe
371924009 severe
399166001 severe
`

// severityWords maps the display name of a severity whose code is not in the severities table.
const severityWords terms.Table = `
mild mild
moderate moderate
severe severe
`
