package payers_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsPoliciesToCoverage(t *testing.T) {
	t.Parallel()
	policy := func(template, inside string) string {
		return `<entry><act classCode="ACT" moodCode="EVN">` + template +
			`<id root="2.16.840.1.113883.19.5" extension="list"/><code code="48768-6" codeSystem="2.16.840.1.113883.6.1"/>
<statusCode code="completed"/>
<entryRelationship typeCode="COMP"><sequenceNumber value="2"/>
<act classCode="ACT" moodCode="EVN"><id root="2.16.840.1.113883.19.6" extension="group7"/>
<code code="12" codeSystem="2.16.840.1.113883.3.221.5"/>
<statusCode code="completed"/>` + inside + `</act></entryRelationship></act></entry>`
	}
	const payer = `<performer typeCode="PRF">
<assignedEntity><id root="2.16.840.1.113883.19.7" extension="naic"/>
<code code="PAYOR" codeSystem="2.16.840.1.113883.5.110"/><telecom value="tel:1" use="HP"/>
<representedOrganization><name>Insurer</name></representedOrganization></assignedEntity></performer>`
	const guarantor = `<performer typeCode="PRF">
<assignedEntity><id root="2.16.840.1.113883.19.7" extension="g"/>
<code code="GUAR" codeSystem="2.16.840.1.113883.5.110"/>
<assignedPerson><name><family>Payer</family></name></assignedPerson>
</assignedEntity></performer>`
	const covered = `<participant typeCode="COV"><time><low value="20190101"/></time>` +
		`<participantRole classCode="PAT"><id root="2.16.840.1.113883.19.8" extension="m1"/>` +
		`<code code="CHILD" codeSystem="2.16.840.1.113883.5.111"/></participantRole></participant>`
	const holder = `<participant typeCode="HLD"><participantRole><id root="2.16.840.1.113883.19.8" extension="h1"/>` +
		`<playingEntity><name><family>Holder</family></name></playingEntity></participantRole></participant>`
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "tells who pays for whom", Section: "48768-6",
			Entries: policy(`<templateId root="2.16.840.1.113883.10.20.22.4.60"/>`,
				payer+guarantor+covered+holder+
					`<entryRelationship typeCode="REFR">
<act classCode="ACT" moodCode="DEF"><id root="2.16.840.1.113883.19.6" extension="plan1"/>
<code nullFlavor="UNK"/><text>Gold</text></act></entryRelationship>`),
			Want: []string{
				"Coverage | status=active | type.coding.code=12 | order=2 | payor.0.display=Insurer | payor.1.display=Payer | " +
					"subscriberId=h1 | subscriber.display=Holder | policyHolder.display=Holder | relationship.coding.0.code=child |" +
					" relationship.coding.1.code=CHILD | period.start=2019-01-01 | class.0.type.coding.code=group | " +
					"class.0.value=group7 | class.1.type.coding.code=plan | class.1.value=plan1 | class.1.name=Gold |" +
					" identifier.type.coding.code=MB | identifier.value=m1 | meta.tag.code=48768-6",
				"Organization | name=Insurer | identifier.value=naic",
				"RelatedPerson | name.family=Payer | relationship.coding.code=GUAR",
			},
			Never: []string{"Practitioner | name.family=Payer"},
		},
		{
			Name: "is told by section, and of nobody known", Section: "48768-6",
			Entries: policy("", ""),
			Want:    []string{"Coverage | payor.display=Unknown | beneficiary.reference | !subscriber"},
		},
	})
}
