package careteams_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsCareTeams(t *testing.T) {
	t.Parallel()
	const member = `<component><act classCode="PCPR" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.500.1"/>
<code code="85847-2" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="active"/>
<effectiveTime><low value="20190101"/></effectiveTime>
<performer typeCode="PRF"><sdtc:functionCode code="PCP" codeSystem="2.16.840.1.113883.5.88"/>
<assignedEntity><id root="2.16.840.1.113883.19.4" extension="m"/>
<assignedPerson><name><family>Member</family></name></assignedPerson></assignedEntity></performer></act></component>`
	const kind = `<component><observation classCode="OBS" moodCode="EVN">
<templateId root="2.16.840.1.113883.10.20.22.4.500.2"/><code code="86744-0" codeSystem="2.16.840.1.113883.6.1"/>
<value xsi:type="CD" code="LA28865-6" codeSystem="2.16.840.1.113883.6.1"/></observation></component>`
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "have members with functions", Section: "85847-2",
			Entries: `<entry><organizer classCode="CLUSTER" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.500"/>
<code code="86744-0" codeSystem="2.16.840.1.113883.6.1"><originalText>Team A</originalText></code>
<statusCode code="active"/><effectiveTime>
<low value="20180101"/></effectiveTime>` + kind + member + `</organizer></entry>`,
			Want: []string{
				"CareTeam | status=active | name=Team A | period.start=2018-01-01 | category.coding.code=LA28865-6 | " +
					"participant.role.coding.code=PCP | participant.member.display=Member | participant.period.start=2019-01-01",
			},
		},
		{
			Name: "may have no templates, and members no function", Section: "85847-2",
			Entries: `<entry><organizer classCode="CLUSTER" moodCode="EVN"><statusCode code="completed"/><component>` +
				`<act classCode="PCPR" moodCode="EVN">` + ccdatest.DoneBy + `</act></component></organizer></entry>`,
			Want: []string{"CareTeam | status=inactive | participant.role.coding.code=unknown | " +
				"participant.member.display=Doer"},
		},
	})
}
