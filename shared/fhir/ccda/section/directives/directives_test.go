package directives_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsAdvanceDirectivesToConsents(t *testing.T) {
	t.Parallel()
	directive := func(root, inside string) string {
		return `<observation classCode="OBS" moodCode="EVN">` + root +
			`<id root="2.16.840.1.113883.19.5" extension="ad"/><code code="304251008" ` + ccdatest.InSnomed +
			`<statusCode code="completed"/>
<effectiveTime><low value="20110219"/><high nullFlavor="NA"/></effectiveTime>` + inside + `</observation>`
	}
	const template = `<templateId root="2.16.840.1.113883.10.20.22.4.48"/>`
	const document = `<reference typeCode="REFR"><externalDocument><id root="b50b7910-7ffb-4f4c-bbe4-177ed68cbbf3"/` +
		`><text mediaType="application/pdf"><reference value="directive.pdf"/></text></externalDocument></reference>`
	const verifier = `<participant typeCode="VRF"><time value="20120101"/><participantRole>` +
		`<id root="2.16.840.1.113883.19.4" extension="v"/><playingEntity><name><family>Verifier</family></name>` +
		`</playingEntity></participantRole></participant>`
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "are consents with their document", Section: "42348-3",
			Entries: `<entry><organizer classCode="CLUSTER" moodCode="EVN"><templateId ` +
				`root="2.16.840.1.113883.10.20.22.4.108"/><code code="45473-6" codeSystem="2.16.840.1.113883.6.1"/>` +
				`<component>` +
				directive(template, `<value xsi:type="CD" code="304253006" `+ccdatest.InSnomed+ccdatest.WrittenBy+verifier+
					document) + `</component></organizer></entry>`,
			Want: []string{
				"Consent | status=active | scope.coding.code=adr | category.coding.code=acd | category.coding.code=304251008 | " +
					"provision.code.coding.code=304253006 | provision.period.start=2011-02-19 | dateTime=2019-02-03 |" +
					" verification.verified=true | verification.verificationDate=2012-01-01 | " +
					"provision.actor.reference.display=Verifier | provision.actor.role.coding.code=VRF | sourceReference.reference " +
					"| meta.tag.code=45473-6 | policyRule | !performer",
				"DocumentReference | content.attachment.url=directive.pdf | content.attachment.contentType=application/pdf",
			},
			Never: []string{"Observation"},
		},
		{
			Name: "are observations where they answer a question", Section: "42348-3",
			Entries: `<entry>` + directive("", `<value xsi:type="BL" value="true"/>`+document) + `</entry>`,
			Want:    []string{"Observation | code.coding.code=304251008 | valueBoolean=true | derivedFrom.reference"},
			Never:   []string{"Consent"},
		},
		{
			Name: "may have words alone", Section: "42348-3",
			Entries: `<entry>` + directive("", `<text>No machines</text><value xsi:type="CD" nullFlavor="UNK"/>`) + `</entry>`,
			Want:    []string{"Consent | provision.code.text=No machines"},
		},
	})
}
