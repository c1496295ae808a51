package allergies

import "recordbridge/shared/fhir/ccda/terms"

// kinds has type and category by the value of the observation: C-CDA on FHIR, ConceptMaps CF-AllergyIntoleranceType and
// CF-AllergyIntoleranceCategory, and the older value set 2.16.840.1.113883.3.88.12.3221.6.2. A hyphen stands for
// neither.
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

// statuses maps the value of an Allergy Status Observation to allergyintolerance-clinical (C-CDA on FHIR, ConceptMap
// CF-AllergyStatus). Every other value counts as active.
const statuses terms.Table = `
73425007 inactive
413322009 resolved
`

// concernStatuses maps ActStatus of the concern to allergyintolerance-clinical, for an allergy without a status of its
// own.
const concernStatuses terms.Table = `
completed resolved
aborted inactive
suspended inactive
`

// criticalities maps the value of a Criticality Observation to allergy-intolerance-criticality (C-CDA on FHIR,
// ConceptMap CF-Criticality).
const criticalities terms.Table = `
CRITH high
CRITL low
CRITU unable-to-assess
`

// severities maps the value of a Severity Observation to reaction-event-severity (C-CDA on FHIR, ConceptMap
// CF-Severity). A value between two counts as the higher one.
const severities terms.Table = `
255604002 mild
6736007 moderate
371923003 moderate
24484000 severe
371924009 severe
399166001 severe
`

// severityWords maps the display name of a severity whose code is not in the table above.
const severityWords terms.Table = `
mild mild
moderate moderate
severe severe
`
