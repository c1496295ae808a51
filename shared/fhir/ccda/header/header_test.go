package header_test

import (
	"strings"
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestHeaderConvertsPatientWithUSCoreElements(t *testing.T) {
	t.Parallel()
	ccdatest.Wants(t, ccdatest.DocumentFacts(t,
		ccdatest.Document(
			`<recordTarget><patientRole><id root="2.16.840.1.113883.4.1" extension="999-00-1111"/>
<id root="2.16.840.1.113883.4.6"/><id nullFlavor="NI"/>
<addr use="HP"><streetAddressLine>1 Oak Lane</streetAddressLine><city>Sample</city><state>OR</state>
<postalCode>97000</postalCode><country>US</country></addr>
<telecom use="MC" value="tel:+1(555)555-0100"/><telecom value="mailto:a@example.org"/><telecom nullFlavor="UNK"/>
<patient><name use="L"><given>Ada</given><given qualifier="CL">Addie</given><family>Example</family></name>
<name><given>Ada</given><family qualifier="BR">Maiden</family></name>
<administrativeGenderCode code="F" codeSystem="2.16.840.1.113883.5.1"/><birthTime value="197503011530-0500"/>
<sdtc:deceasedTime value="20191231"/>
<maritalStatusCode code="M" codeSystem="2.16.840.1.113883.5.2"/>
<raceCode code="2106-3" displayName="White" codeSystem="2.16.840.1.113883.6.238"/>
<sdtc:raceCode code="2131-1" displayName="Other Race" codeSystem="2.16.840.1.113883.6.238"/>
<ethnicGroupCode code="2186-5" displayName="Not Hispanic or Latino" codeSystem="2.16.840.1.113883.6.238"/>
<guardian><code code="MTH" codeSystem="2.16.840.1.113883.5.111"/>
<guardianPerson><name><given>Eve</given><family>Example</family></name></guardianPerson></guardian>
<languageCommunication><languageCode code="eng"/><preferenceInd value="true"/></languageCommunication></patient>
<providerOrganization><id root="2.16.840.1.113883.4.6" extension="99"/><name>Clinic</name>
<telecom use="HP" value="tel:5"/></providerOrganization></patientRole></recordTarget>`, "")),
		`Patient | identifier.0.system=http://hl7.org/fhir/sid/us-ssn | identifier.0.value=999-00-1111 | !identifier.1 `+
			`| name.0.use=usual | name.0.given.1=Addie | name.1.use=maiden |`+
			` gender=female | birthDate=1975-03-01 | _birthDate.extension.valueDateTime=1975-03-01T15:30:00-05:00 | `+
			`deceasedDateTime=2019-12-31 | address.line.0=1 Oak Lane | telecom.0.use=mobile | telecom.1.system=email `+
			`| !telecom.2 |`+
			` maritalStatus.coding.code=M | communication.language.coding.code=en | communication.preferred=true | `+
			`managingOrganization.reference |`+
			` extension.0.url=http://hl7.org/fhir/us/core/StructureDefinition/us-core-race | `+
			`extension.0.extension.0.url=ombCategory | extension.0.extension.0.valueCoding.code=2106-3 |`+
			` extension.0.extension.1.url=detailed | extension.0.extension.2.valueString=White, `+
			`Other Race | extension.1.extension.0.valueCoding.code=2186-5`,
		"RelatedPerson | relationship.0.coding.code=MTH | relationship.1.coding.code=GUARD | name.given.0=Eve | "+
			"patient.reference | active=true",
		"Organization | identifier.system=http://hl7.org/fhir/sid/us-npi | name=Clinic | telecom.value=5 | !telecom.use | "+
			"active=true",
	)
}

func TestHeaderCreatesPatientWhenDemographicsAreMissing(t *testing.T) {
	t.Parallel()
	ccdatest.Wants(t, ccdatest.DocumentFacts(t, ccdatest.Document("", "")),
		"Patient | gender=unknown | _birthDate.extension.valueCode=unknown",
		"Composition | author.display=Unknown | title=Summary | subject.reference | date=2020-01-02T03:04:05-05:00 | "+
			"meta.source=urn:uuid:7f53dbe6-935c-52d9-99aa-c44e64267b65",
		"Provenance | target.0.reference | recorded=2020-01-02T03:04:05-05:00 | agent.who.display=Unknown | "+
			"entity.role=source")
}

func TestHeaderConvertsLanguageAndContacts(t *testing.T) {
	t.Parallel()
	ccdatest.Wants(t, ccdatest.DocumentFacts(t,
		ccdatest.Document(`<languageCode code="en-US"/>`+ccdatest.SomePatient+
			`<participant typeCode="IND"><associatedEntity classCode="ECON">
<code code="SPS" codeSystem="2.16.840.1.113883.5.111"/>
<associatedPerson><name><given>B</given><family>Spouse</family></name></associatedPerson></associatedEntity>
</participant>`, "")),
		"Composition | language=en-US",
		"RelatedPerson | relationship.0.coding.code=SPS | relationship.1.coding.code=ECON | name.family=Spouse")
}

func TestConvertMapsHeaderConsentToConsent(t *testing.T) {
	t.Parallel()
	ccdatest.Wants(t, ccdatest.DocumentFacts(t,
		ccdatest.Document(ccdatest.SomePatient+
			`<authorization><consent><id root="2.16.840.1.113883.19.5" extension="c"/>
<code code="59284-0" codeSystem="2.16.840.1.113883.6.1"/>
<statusCode code="completed"/></consent></authorization>`, "")), "Consent | status=active | "+
		"scope.coding.code=patient-privacy | category.coding.code=59284-0 | identifier.value=c | !dateTime")
}

func TestHeaderDistinguishesPractitionersFromRelatives(t *testing.T) {
	t.Parallel()
	person := func(id, code, name string) string {
		return `<informant><assignedEntity>` + id + code + `<assignedPerson><name>` + name +
			`</name></assignedPerson></assignedEntity></informant>`
	}
	const id, short = `<id root="2.16.840.1.113883.4.6" extension="9900000011"/>`,
		`<given>Ash</given><family>Sample</family>`
	ccdatest.Wants(t, ccdatest.DocumentFacts(t,
		ccdatest.Document(ccdatest.SomePatient+person(id, "", short)+person(id, "", `<prefix>Dr.</prefix>`+short)+
			person(id, "", short)+
			person(`<id nullFlavor="NI"/>`, `<code code="SPS" codeSystem="2.16.840.1.113883.5.111"/>`,
				`<given>Aspen</given><family>Alder</family>`), "")),
		"Practitioner | name.0.family=Sample | name.0.prefix.0=Dr. | !name.1",
		"RelatedPerson | name.0.family=Alder | relationship.coding.code=SPS")
}

func TestHeaderConvertsParticipants(t *testing.T) {
	t.Parallel()
	person := func(element, id, family, more string) string {
		return `<` + element + `><id root="2.16.840.1.113883.4.6" extension="` + id + `"/>` + more +
			`<assignedPerson><name><given>A</given><family>` + family + `</family></name></assignedPerson></` + element + `>`
	}
	resources := ccdatest.DocumentFacts(t, ccdatest.Document(ccdatest.SomePatient+
		`<author><time value="2020"/>`+person("assignedAuthor", "1", "Writer",
		`<code code="207Q00000X" codeSystem="2.16.840.1.113883.6.101"/>`)+`</author>
<author><time value="2020"/><assignedAuthor><id root="2.16.840.1.113883.19.7" extension="s"/>
<assignedAuthoringDevice><manufacturerModelName>EHR</manufacturerModelName>
<softwareName>5.1</softwareName></assignedAuthoringDevice></assignedAuthor></author>
<author><time value="2020"/><assignedAuthor><id root="2.16.840.1.113883.19.1" extension="p"/></assignedAuthor></author>
<informant><relatedEntity classCode="PRS"><code code="SPS" codeSystem="2.16.840.1.113883.5.111"/>
<relatedPerson><name><given>B</given><family>Spouse</family></name></relatedPerson></relatedEntity></informant>
<custodian><assignedCustodian><representedCustodianOrganization><id root="2.16.840.1.113883.19.8" extension="c"/>
<name>Keeper</name></representedCustodianOrganization></assignedCustodian></custodian>
<legalAuthenticator><time value="20200103"/>
<signatureCode code="S"/>`+person("assignedEntity", "2", "Signer", "")+`</legalAuthenticator>
<documentationOf><serviceEvent classCode="PCPR"><effectiveTime><low value="2019"/><high value="2020"/></effectiveTime>
<performer typeCode="PRF"><functionCode code="PCP" codeSystem="2.16.840.1.113883.5.88"/>`+
		person("assignedEntity", "3", "Doctor", `<representedOrganization><name>Practice</name></representedOrganization>`)+
		`</performer></serviceEvent></documentationOf>
<relatedDocument typeCode="RPLC"><parentDocument>
<id root="2.16.840.1.113883.19.9" extension="d0"/></parentDocument></relatedDocument>
<componentOf><encompassingEncounter><id root="2.16.840.1.113883.19.3" extension="v"/>
<code code="99213" codeSystem="2.16.840.1.113883.6.12"/>
<effectiveTime><low value="20191231"/><high value="20200101"/></effectiveTime>
<dischargeDispositionCode code="01" codeSystem="2.16.840.1.113883.6.301.5"/>
<encounterParticipant typeCode="ATND">`+person("assignedEntity", "3", "Doctor", "")+`</encounterParticipant>
<location><healthCareFacility><code code="1117-1" codeSystem="2.16.840.1.113883.6.259"/>
<location><name>Ward</name></location></healthCareFacility></location></encompassingEncounter></componentOf>`, ""))
	ccdatest.Wants(t, resources,
		"Practitioner | identifier.system=http://hl7.org/fhir/sid/us-npi | name.family=Writer",
		"PractitionerRole | specialty.coding.code=207Q00000X | practitioner.display=A Writer",
		"Device | deviceName.0.name=EHR | deviceName.1.name=5.1",
		"RelatedPerson | relationship.coding.code=SPS | name.family=Spouse", "Organization | name=Keeper",
		"PractitionerRole | practitioner.display=A Doctor | organization.display=Practice",
		"Composition | author.0.display=A Writer | author.1.display=EHR | author.2.reference | !author.3 | "+
			"attester.mode=legal | attester.time=2020-01-03 | custodian.display=Keeper |"+
			" relatesTo.code=replaces | relatesTo.targetIdentifier.value=d0 | event.period.start=2019 | "+
			"event.detail.reference | encounter.reference",
		"CareTeam | participant.member.display=A Doctor | participant.role.coding.code=PCP | "+
			"participant.onBehalfOf.display=Practice",
		"Encounter | status=finished | class.code=AMB | type.coding.code=99213 | period.end=2020-01-01 | "+
			"participant.type.coding.code=ATND | hospitalization.dischargeDisposition.coding.code=01 | "+
			"location.location.display=Ward",
		"Location | name=Ward | type.coding.code=1117-1",
		"Provenance | agent.0.type.coding.code=author | agent.3.type.coding.code=informant | "+
			"agent.4.type.coding.code=custodian | entity.what.identifier.value=d 1",
	)
	doctors := 0
	for _, r := range resources {
		if r.Kind == "Practitioner" && r.Values["name.family=Doctor"] {
			doctors++
		}
	}
	if doctors != 1 {
		t.Errorf("%d Practitioners of one id and name", doctors)
	}
}

func TestUnstructuredBodyIsConvertedToBinary(t *testing.T) {
	t.Parallel()
	body := func(text string) string {
		return ccdatest.Document(ccdatest.SomePatient, `<nonXMLBody>`+text+`</nonXMLBody>`)
	}
	ccdatest.Wants(t, ccdatest.DocumentFacts(t, body(`<text mediaType="application/pdf" representation="B64">
JVBE
Ri0=</text>`)), "DocumentReference | content.attachment.contentType=application/pdf | content.attachment.url | "+
		"type.coding.code=34133-9 | status=current", "Binary | contentType=application/pdf | data=JVBERi0=")
	ccdatest.Wants(t, ccdatest.DocumentFacts(t, body(`<text mediaType="text/plain">All &amp; well</text>`)),
		"Binary | contentType=text/plain | data=QWxsICYgd2VsbA==")
	ccdatest.Wants(t, ccdatest.DocumentFacts(t,
		body(`<text mediaType="application/pdf"><reference value="a file.pdf"/></text>`)),
		"DocumentReference | content.attachment.url=a%20file.pdf")
}

func TestNarrativeDropsScriptsFormsAndStyles(t *testing.T) {
	t.Parallel()
	resources := ccdatest.DocumentFacts(t, ccdatest.Document(ccdatest.SomePatient,
		`<structuredBody><component><section><code code="10164-2" codeSystem="2.16.840.1.113883.6.1"/><title>History</title>
<text>
<paragraph ID="p1" onclick="x()">A &lt; B <content styleCode="Bold">bold</content></paragraph>`+
			`<script>alert(1)</script><linkHtml href="javascript:x()">here</linkHtml>
<list listType="ordered"><caption>Steps</caption><item>one</item></list>`+
			`<table border="1"><tr><td colspan="2">cell</td></tr></table></text></section></component></structuredBody>`))
	want := `<div xmlns=\"http://www.w3.org/1999/xhtml\">\n<p id=\"p1\">A &lt; B <span style=\"font-weight: ` +
		`bold\">bold</span></p>alert(1)<a>here</a>\n` +
		`<p>Steps</p><ol><li>one</li></ol><table><tr><td colspan=\"2\">cell</td></tr></table></div>`
	for _, r := range resources {
		if r.Kind == "Composition" && !strings.Contains(r.JSON, want) {
			t.Errorf("no %s in\n%s", want, r.JSON)
		}
	}
	ccdatest.Wants(t, resources, "Composition | section.title=History | section.text.status=additional")
}
