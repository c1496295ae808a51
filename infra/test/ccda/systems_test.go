package ccdatest_test

import "strings"

// Code system OIDs that the tests refer to by name.
const (
	loinc    = "2.16.840.1.113883.6.1"
	snomed   = "2.16.840.1.113883.6.96"
	actCode  = "2.16.840.1.113883.5.4"
	actClass = "2.16.840.1.113883.5.6"
)

// systems maps OIDs to FHIR's code system URIs (hl7.org/fhir/R4/terminologies-systems.html, terminology.hl7.org).
var systems = map[string]string{
	loinc: "http://loinc.org", snomed: "http://snomed.info/sct",
	"2.16.840.1.113883.6.88":   "http://www.nlm.nih.gov/research/umls/rxnorm",
	"2.16.840.1.113883.6.90":   "http://hl7.org/fhir/sid/icd-10-cm",
	"2.16.840.1.113883.6.3":    "http://hl7.org/fhir/sid/icd-10",
	"2.16.840.1.113883.6.103":  "http://hl7.org/fhir/sid/icd-9-cm",
	"2.16.840.1.113883.6.104":  "http://hl7.org/fhir/sid/icd-9-cm",
	"2.16.840.1.113883.6.12":   "http://www.ama-assn.org/go/cpt",
	"2.16.840.1.113883.12.292": "http://hl7.org/fhir/sid/cvx", "2.16.840.1.113883.6.59": "http://hl7.org/fhir/sid/cvx",
	"2.16.840.1.113883.12.227": "http://terminology.hl7.org/CodeSystem/MVX",
	"2.16.840.1.113883.6.69":   "http://hl7.org/fhir/sid/ndc", "2.16.840.1.113883.4.9": "http://fdasis.nlm.nih.gov",
	"2.16.840.1.113883.3.26.1.1": "http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl",
	"2.16.840.1.113883.6.101":    "http://nucc.org/provider-taxonomy",
	"2.16.840.1.113883.6.259":    "https://www.cdc.gov/nhsn/cdaportal/terminology/codesystem/hsloc.html",
	"2.16.840.1.113883.6.4":      "http://www.cms.gov/Medicare/Coding/ICD10",
	"2.16.840.1.113883.6.254":    "http://hl7.org/fhir/sid/icf",
	"2.16.840.1.113883.3.221.5":  "https://nahdo.org/sopt", "2.16.840.1.113883.6.13": "http://www.ada.org/cdt",
	"2.16.840.1.113883.6.8": "http://unitsofmeasure.org",
	"1.2.840.10008.2.16.4":  "http://dicom.nema.org/resources/ontology/DCM",
}

// v3Names maps the last part of an OID below 2.16.840.1.113883.5 to the name of HL7's code system.
var v3Names = map[string]string{
	"1": "AdministrativeGender", "2": "MaritalStatus", "4": "ActCode", "6": "ActClass", "7": "ActPriority",
	"8": "ActReason", "14": "ActStatus",
	"60": "LanguageAbilityMode", "61": "LanguageAbilityProficiency", "83": "ObservationInterpretation",
	"84": "ObservationMethod",
	"88": "ParticipationFunction", "110": "RoleClass", "111": "RoleCode", "112": "RouteOfAdministration",
	"129": "SpecimenType", "1063": "ObservationValue",
	"1076": "ReligiousAffiliation",
}

// systemURI returns a code system's URI, or its OID as a urn:oid URI if no other URI is known.
func systemURI(oid string) string {
	if uri, ok := systems[oid]; ok {
		return uri
	}
	if number, ok := strings.CutPrefix(oid, "2.16.840.1.113883.5."); ok && v3Names[number] != "" {
		return "http://terminology.hl7.org/CodeSystem/v3-" + v3Names[number]
	}
	return "urn:oid:" + oid
}

// namesOf returns the acceptable forms of a coding: the code with FHIR's URI or with the OID. If the sender wrote a
// name or value set instead of a code system, matching the code alone is sufficient.
func namesOf(c coding) []string {
	if strings.Trim(c.system, "0123456789.") != "" || strings.HasPrefix(c.system, "2.16.840.1.113883.1.11.") {
		return []string{"*|" + c.code}
	}
	return []string{systemURI(c.system) + "|" + c.code, "urn:oid:" + c.system + "|" + c.code}
}

// equivalents maps FHIR's required values to C-CDA codes with the same meaning. It covers SNOMED CT severities and
// statuses ("C-CDA on FHIR", Allergies and Problems), and HL7 codes for criticality and gender.
var equivalents = map[string][]coding{
	"severity mild": {{snomed, "255604002"}}, "severity moderate": {{snomed, "6736007"}, {snomed, "371924009"}},
	"severity severe": {{snomed, "24484000"}, {snomed, "371923003"}, {snomed, "399166001"}},
	"code active":     {{snomed, "55561003"}}, "code inactive": {{snomed, "73425007"}},
	"code resolved":                {{snomed, "413322009"}},
	"criticality high":             {{"2.16.840.1.113883.5.1063", "CRITH"}},
	"criticality low":              {{"2.16.840.1.113883.5.1063", "CRITL"}},
	"criticality unable-to-assess": {{"2.16.840.1.113883.5.1063", "CRITU"}},
	"gender female":                {{"2.16.840.1.113883.5.1", "F"}}, "gender male": {{"2.16.840.1.113883.5.1", "M"}},
	"valueCode F": {{"2.16.840.1.113883.5.1", "F"}}, "valueCode M": {{"2.16.840.1.113883.5.1", "M"}},
}
