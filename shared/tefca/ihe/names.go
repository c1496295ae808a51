package ihe

// XML namespaces and names that the web services use (IHE ITI TF-2, Appendix V: SOAP 1.2, WS-Addressing, MTOM; 3.40:
// XUA).
const (
	soapSpace   = "http://www.w3.org/2003/05/soap-envelope"
	addressing  = "http://www.w3.org/2005/08/addressing"
	anonymous   = "http://www.w3.org/2005/08/addressing/anonymous" // requests the response on the same connection
	security    = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"
	security11  = "http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd"
	utility     = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"
	samlSpace   = "urn:oasis:names:tc:SAML:2.0:assertion"
	dsigSpace   = "http://www.w3.org/2000/09/xmldsig#"
	instance    = "http://www.w3.org/2001/XMLSchema-instance"
	xopSpace    = "http://www.w3.org/2004/08/xop/include"
	hl7Space    = "urn:hl7-org:v3"
	querySpace  = "urn:oasis:names:tc:ebxml-regrep:xsd:query:3.0"
	rimSpace    = "urn:oasis:names:tc:ebxml-regrep:xsd:rim:3.0"
	registry    = "urn:oasis:names:tc:ebxml-regrep:xsd:rs:3.0"
	sharing     = "urn:ihe:iti:xds-b:2007"
	soapMedia   = "application/soap+xml"
	xopMedia    = "application/xop+xml"
	multipartly = "multipart/related"
)

// WS-Addressing actions of the transactions (IHE ITI TF-2, 3.55, 3.38 and 3.39: the port types of the Web Services).
const (
	actDiscover = "urn:hl7-org:v3:PRPA_IN201305UV02:CrossGatewayPatientDiscovery"
	actQuery    = "urn:ihe:iti:2007:CrossGatewayQuery"
	actRetrieve = "urn:ihe:iti:2007:CrossGatewayRetrieve"
)

// HL7 v3 interactions of patient discovery, ITI-55 (IHE ITI TF-2, 3.55.4.1 and 3.55.4.2).
const (
	discoverMessage = "PRPA_IN201305UV02"
	discoverTrigger = "PRPA_TE201305UV02"
	discoverAnswer  = "PRPA_IN201306UV02"
	interactions    = "2.16.840.1.113883.1.6" // OID of HL7 interactions and trigger events
	genders         = "2.16.840.1.113883.5.1" // OID of HL7 AdministrativeGender
	moreAttributes  = "1.3.6.1.4.1.19376.1.2.27.1"
)

// Identifiers of the stored query FindDocuments (IHE ITI TF-2, 3.18.4.1.2.3.7.1) and of the types, schemes and states
// in its results (TF-3, 4.2).
const (
	findDocuments   = "urn:uuid:14d4debf-8f97-4251-9a74-a90016b0af0d"
	stableEntry     = "urn:uuid:7edca82f-054d-47f2-a032-9b2a5b5186c1"
	onDemandEntry   = "urn:uuid:34268e47-fdf5-41a6-ba33-82133c465248"
	approved        = "urn:oasis:names:tc:ebxml-regrep:StatusType:Approved"
	entryPatient    = "urn:uuid:58a6f841-87b3-4a3e-92fd-a8ffeff98427" // XDSDocumentEntry.patientId
	entryUnique     = "urn:uuid:2e82c1f6-a085-4c72-9da3-8640a32e42ab" // XDSDocumentEntry.uniqueId
	statusSuccess   = "urn:oasis:names:tc:ebxml-regrep:ResponseStatusType:Success"
	statusPartial   = "urn:ihe:iti:2007:ResponseStatusType:PartialSuccess"
	statusFailure   = "urn:oasis:names:tc:ebxml-regrep:ResponseStatusType:Failure"
	unknownPatient  = "XDSUnknownPatientId"
	unknownDocument = "XDSDocumentUniqueIdError"
)

// Attributes of the SAML assertion and their values (IHE ITI TF-2, 3.40.4.1.2: XUA). US networks use the NHIN attribute
// name for the home community ID.
const (
	attributeFormats = "urn:oasis:names:tc:SAML:2.0:attrname-format:"
	subjectName      = "urn:oasis:names:tc:SAML:1.1:nameid-format:X509SubjectName"
	holderOfKey      = "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"
	byX509           = "urn:oasis:names:tc:SAML:2.0:ac:classes:X509"
	attrSubject      = "urn:oasis:names:tc:xspa:1.0:subject:subject-id"
	attrOrganization = "urn:oasis:names:tc:xspa:1.0:subject:organization"
	attrOrgID        = "urn:oasis:names:tc:xspa:1.0:subject:organization-id"
	attrHome         = "urn:ihe:iti:xca:2010:homeCommunityId"
	attrHomeNHIN     = "urn:nhin:names:saml:homeCommunityId"
	attrRole         = "urn:oasis:names:tc:xacml:2.0:subject:role"
	attrPurpose      = "urn:oasis:names:tc:xspa:1.0:subject:purposeofuse"
	// attrToken is the attribute that contains the id_token with its original signature (RCE, SOP "Exchange Purpose
	// Implementation: Individual Access Services" v3.0, 4.9 (e)).
	attrToken = "urn:ietf:params:oauth:token-type:id_token" //nolint:gosec // G101: a name
	// Token types to which a signature can refer (OASIS, WSS SAML Token Profile 1.1.1, 3.4).
	samlToken = "http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile-1.1#SAMLV2.0" //nolint:gosec // G101: a name
	samlID    = "http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile-1.1#SAMLID"
)

// role returns the requester's role, the SNOMED CT concept "Patient (person)".
func role() coding { return coding{"116154003", "2.16.840.1.113883.6.96", "SNOMED_CT", "Patient"} }

// purposes returns the purposes of use that represent individual access, by code. Only these purposes can be
// configured.
func purposes() map[string]coding {
	return map[string]coding{
		// See RCE, SOP "Exchange Purpose Implementation: Individual Access Services" v3.0, 4.1. The code system is from
		// SOP "Exchange Purposes" v5.1, table 1.
		"T-IAS": {"T-IAS", "2.16.840.1.113883.3.7204.1.5.2.1", "TEFCA Exchange Purposes", "Individual Access Services"},
		// See NHIN Authorization Framework 3.0, PurposeOfUse.
		"REQUEST": {"REQUEST", "2.16.840.1.113883.3.18.7.1", "nhin-purpose", "Request of the Individual"},
		// See HL7 v3 ActReason.
		"PATRQT": {"PATRQT", "2.16.840.1.113883.5.8", "ActReason", "patient requested"},
	}
}
