package terms

import (
	"net/url"
	"strings"
)

// URIs of the code systems that rules use (FHIR R4, terminologies-systems.html).
const (
	LOINC    = "http://loinc.org"
	ICD10CM  = "http://hl7.org/fhir/sid/icd-10-cm"
	ICD10PCS = "http://www.cms.gov/Medicare/Coding/ICD10"
)

// systems maps the OIDs of code systems to their FHIR URIs (terminology.hl7.org, terminologies-systems.html, and the
// identifier registry of "C-CDA on FHIR").
const systems Table = `
2.16.840.1.113883.6.96 http://snomed.info/sct
2.16.840.1.113883.6.1 http://loinc.org
2.16.840.1.113883.6.88 http://www.nlm.nih.gov/research/umls/rxnorm
2.16.840.1.113883.6.8 http://unitsofmeasure.org
2.16.840.1.113883.6.90 http://hl7.org/fhir/sid/icd-10-cm
2.16.840.1.113883.6.4 http://www.cms.gov/Medicare/Coding/ICD10
2.16.840.1.113883.6.3 http://hl7.org/fhir/sid/icd-10
2.16.840.1.113883.6.103 http://hl7.org/fhir/sid/icd-9-cm
2.16.840.1.113883.6.104 http://hl7.org/fhir/sid/icd-9-cm
2.16.840.1.113883.6.42 http://hl7.org/fhir/sid/icd-9-cm
2.16.840.1.113883.6.2 http://hl7.org/fhir/sid/icd-9-cm
2.16.840.1.113883.6.12 http://www.ama-assn.org/go/cpt
2.16.840.1.113883.6.14 http://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets
2.16.840.1.113883.6.285 http://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets
2.16.840.1.113883.6.13 http://www.ada.org/cdt
2.16.840.1.113883.6.59 http://hl7.org/fhir/sid/cvx
2.16.840.1.113883.12.292 http://hl7.org/fhir/sid/cvx
2.16.840.1.113883.12.227 http://hl7.org/fhir/sid/mvx
2.16.840.1.113883.6.69 http://hl7.org/fhir/sid/ndc
2.16.840.1.113883.4.9 http://fdasis.nlm.nih.gov
2.16.840.1.113883.6.209 http://hl7.org/fhir/ndfrt
2.16.840.1.113883.6.345 http://www.nlm.nih.gov/research/umls/medrt
2.16.840.1.113883.3.26.1.1 http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl
2.16.840.1.113883.6.101 http://nucc.org/provider-taxonomy
2.16.840.1.113883.6.259 https://www.cdc.gov/nhsn/cdaportal/terminology/codesystem/hsloc.html
2.16.840.1.113883.3.221.5 https://nahdo.org/sopt
2.16.840.1.113883.6.50 https://www.cms.gov/Medicare/Coding/place-of-service-codes/Place_of_Service_Code_Set
2.16.840.1.113883.6.301.3 https://www.nubc.org/CodeSystem/RevenueCodes
2.16.840.1.113883.6.301.5 https://www.nubc.org/CodeSystem/PatDischargeStatus
2.16.840.1.113883.6.301.4 https://www.nubc.org/CodeSystem/PointOfOrigin
2.16.840.1.113883.6.24 urn:iso:std:iso:11073:10101
2.16.840.1.113883.6.86 http://www.nlm.nih.gov/research/umls
2.16.840.1.113883.6.254 http://hl7.org/fhir/sid/icf
2.16.840.1.113883.6.256 http://www.radlex.org
1.2.840.10008.2.16.4 http://dicom.nema.org/resources/ontology/DCM
2.16.840.1.113883.6.121 urn:ietf:bcp:47
2.16.840.1.113883.6.99 urn:ietf:bcp:47
1.0.3166.1.2.2 urn:iso:std:iso:3166
2.16.840.1.113883.5.1 http://terminology.hl7.org/CodeSystem/v3-AdministrativeGender
2.16.840.1.113883.5.2 http://terminology.hl7.org/CodeSystem/v3-MaritalStatus
2.16.840.1.113883.5.4 http://terminology.hl7.org/CodeSystem/v3-ActCode
2.16.840.1.113883.5.5 http://terminology.hl7.org/CodeSystem/v3-ActCode
2.16.840.1.113883.5.6 http://terminology.hl7.org/CodeSystem/v3-ActClass
2.16.840.1.113883.5.7 http://terminology.hl7.org/CodeSystem/v3-ActPriority
2.16.840.1.113883.5.8 http://terminology.hl7.org/CodeSystem/v3-ActReason
2.16.840.1.113883.5.14 http://terminology.hl7.org/CodeSystem/v3-ActStatus
2.16.840.1.113883.5.25 http://terminology.hl7.org/CodeSystem/v3-Confidentiality
2.16.840.1.113883.5.40 http://terminology.hl7.org/CodeSystem/v3-EntityHandling
2.16.840.1.113883.5.41 http://terminology.hl7.org/CodeSystem/v3-EntityClass
2.16.840.1.113883.5.43 http://terminology.hl7.org/CodeSystem/v3-EntityNamePartQualifier
2.16.840.1.113883.5.45 http://terminology.hl7.org/CodeSystem/v3-EntityNameUse
2.16.840.1.113883.5.50 http://terminology.hl7.org/CodeSystem/v3-EntityRisk
2.16.840.1.113883.5.60 http://terminology.hl7.org/CodeSystem/v3-LanguageAbilityMode
2.16.840.1.113883.5.61 http://terminology.hl7.org/CodeSystem/v3-LanguageAbilityProficiency
2.16.840.1.113883.5.79 http://terminology.hl7.org/CodeSystem/v3-mediaType
2.16.840.1.113883.5.83 http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation
2.16.840.1.113883.5.84 http://terminology.hl7.org/CodeSystem/v3-ObservationMethod
2.16.840.1.113883.5.88 http://terminology.hl7.org/CodeSystem/v3-ParticipationFunction
2.16.840.1.113883.5.90 http://terminology.hl7.org/CodeSystem/v3-ParticipationType
2.16.840.1.113883.5.110 http://terminology.hl7.org/CodeSystem/v3-RoleClass
2.16.840.1.113883.5.111 http://terminology.hl7.org/CodeSystem/v3-RoleCode
2.16.840.1.113883.5.112 http://terminology.hl7.org/CodeSystem/v3-RouteOfAdministration
2.16.840.1.113883.5.129 http://terminology.hl7.org/CodeSystem/v3-SpecimenType
2.16.840.1.113883.5.139 http://terminology.hl7.org/CodeSystem/v3-TimingEvent
2.16.840.1.113883.5.1001 http://terminology.hl7.org/CodeSystem/v3-ActMood
2.16.840.1.113883.5.1002 http://terminology.hl7.org/CodeSystem/v3-ActRelationshipType
2.16.840.1.113883.5.1008 http://terminology.hl7.org/CodeSystem/v3-NullFlavor
2.16.840.1.113883.5.1052 http://terminology.hl7.org/CodeSystem/v3-ActSite
2.16.840.1.113883.5.1063 http://terminology.hl7.org/CodeSystem/v3-ObservationValue
2.16.840.1.113883.5.1065 http://terminology.hl7.org/CodeSystem/v3-ObservationValue
2.16.840.1.113883.5.1070 http://terminology.hl7.org/CodeSystem/v3-SubstanceAdminSubstitution
2.16.840.1.113883.5.1076 http://terminology.hl7.org/CodeSystem/v3-ReligiousAffiliation
2.16.840.1.113883.5.1119 http://terminology.hl7.org/CodeSystem/v3-AddressUse
2.16.840.1.113883.5.1150.1 http://terminology.hl7.org/CodeSystem/v3-TribalEntityUS
2.16.840.1.113883.12.1 http://terminology.hl7.org/CodeSystem/v2-0001
2.16.840.1.113883.12.78 http://terminology.hl7.org/CodeSystem/v2-0078
2.16.840.1.113883.12.112 http://terminology.hl7.org/CodeSystem/v2-0112
2.16.840.1.113883.12.163 http://terminology.hl7.org/CodeSystem/v2-0163
2.16.840.1.113883.12.443 http://terminology.hl7.org/CodeSystem/v2-0443
2.16.840.1.113883.12.487 http://terminology.hl7.org/CodeSystem/v2-0487
`

// systemNames maps the names of code systems to their OIDs, for documents without OIDs. Names are in lower case without
// punctuation.
const systemNames Table = `
snomedct 2.16.840.1.113883.6.96
snomed 2.16.840.1.113883.6.96
snomedctus 2.16.840.1.113883.6.96
snomedclinicalterms 2.16.840.1.113883.6.96
loinc 2.16.840.1.113883.6.1
ln 2.16.840.1.113883.6.1
rxnorm 2.16.840.1.113883.6.88
icd10cm 2.16.840.1.113883.6.90
icd10 2.16.840.1.113883.6.90
icd10pcs 2.16.840.1.113883.6.4
icd9cm 2.16.840.1.113883.6.103
icd9 2.16.840.1.113883.6.103
cpt 2.16.840.1.113883.6.12
cpt4 2.16.840.1.113883.6.12
hcpcs 2.16.840.1.113883.6.285
cdt 2.16.840.1.113883.6.13
cvx 2.16.840.1.113883.12.292
mvx 2.16.840.1.113883.12.227
ndc 2.16.840.1.113883.6.69
unii 2.16.840.1.113883.4.9
ucum 2.16.840.1.113883.6.8
nucc 2.16.840.1.113883.6.101
actcode 2.16.840.1.113883.5.4
hl7actcode 2.16.840.1.113883.5.4
`

// System returns the FHIR URI of a code system, identified by OID or, failing that, by name, or "" if neither is known.
func System(codeSystem, name string) string {
	if uri := URI(codeSystem); uri != "" {
		return uri
	}
	for _, text := range []string{codeSystem, name} {
		if oid := systemNames.Of(plainName(text)); oid != "" {
			return systems.Of(oid)
		}
	}
	return ""
}

// shortestOID is the minimum length of an OID without its last arc. HL7's validator rejects shorter OIDs, such as those
// of countries.
const shortestOID = len("1.2.3")

// URI formats the root of an id or code system as a URI: the URI that FHIR defines for the OID or, if there is none, a
// URN. It returns "" if the root is invalid, because FHIR allows urn:oid: and urn:uuid: only with a valid OID or UUID
// (datatypes.html#uri).
func URI(root string) string {
	root = strings.Trim(strings.TrimSpace(root), "{}")
	root = strings.TrimSuffix(withoutScheme(root), ".")
	switch {
	case IsOID(root) && strings.LastIndexByte(root, '.') >= shortestOID:
		if uri := systems.Of(root); uri != "" {
			return uri
		}
		return "urn:oid:" + root
	case IsUUID(root):
		return "urn:uuid:" + strings.ToLower(root)
	case isAbsolute(root):
		return root
	}
	return ""
}

// withoutScheme returns the OID or UUID contained in a URN (RFC 3061, RFC 9562). The scheme's case is ignored.
func withoutScheme(text string) string {
	for _, scheme := range [...]string{"urn:oid:", "urn:uuid:"} {
		if len(text) > len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
			return text[len(scheme):]
		}
	}
	return text
}

// isAbsolute reports whether text is syntactically an absolute URI (RFC 3986, 4.3; RFC 8141, 2), excluding urn:oid: and
// urn:uuid:, which URI validates.
func isAbsolute(text string) bool {
	const legal = "-._~:/?#[]@!$&'()*+,;=%" +
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if !IsURI(text) || strings.Trim(text, legal) != "" {
		return false
	}
	parsed, err := url.Parse(text)
	if err != nil {
		return false
	}
	if parsed.Scheme != "urn" {
		return parsed.Host != ""
	}
	kind, name, _ := strings.Cut(parsed.Opaque, ":")
	return len(kind) > 1 && name != "" && !strings.EqualFold(kind, "oid") && !strings.EqualFold(kind, "uuid")
}

// plainName returns the letters and digits in a name, in lower case.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, name)
}

// IsOID reports whether text has the form of a FHIR oid (datatypes.html#oid). If the first arc is 0 or 1, the second
// arc is at most 39 (ITU-T X.660, 7.6).
func IsOID(text string) bool {
	if len(text) < 3 || text[0] < '0' || text[0] > '2' || text[1] != '.' {
		return false
	}
	for arc := range strings.SplitSeq(text, ".") {
		if arc == "" || len(arc) > 1 && arc[0] == '0' || strings.Trim(arc, "0123456789") != "" {
			return false
		}
	}
	second, _, _ := strings.Cut(text[2:], ".")
	return text[0] == '2' || len(second) == 1 || len(second) == 2 && second < "40"
}

// IsUUID reports whether text is a UUID, in either case.
func IsUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		c := text[i] | 0x20
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash && text[i] != '-' || !dash && (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// IsURI reports whether text is a URL or URN without white space.
func IsURI(text string) bool {
	return (strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") ||
		strings.HasPrefix(text, "urn:")) &&
		!strings.ContainsAny(text, " \t\n")
}

// IsICD10PCS reports whether a code that is labelled as ICD-10-CM has the form of an ICD-10-PCS code: seven digits and
// letters, without I and O. The first two characters of an ICD-10-PCS code never look like the letter and digit of an
// ICD-10-CM code. Senders use the OID of ICD-10-CM for ICD-10-PCS as well (C-CDA on FHIR, "Procedures": example).
func IsICD10PCS(code string) bool {
	const digits, sections = "0123456789", "0123456789BCDFGHX"
	return len(code) == 7 && strings.Trim(code, "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ") == "" &&
		strings.Contains(sections, code[:1]) &&
		(strings.Contains(digits, code[:1]) || !strings.Contains(digits, code[1:2]))
}
