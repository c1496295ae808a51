package concerns_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsHealthConcernsToConditions(t *testing.T) {
	t.Parallel()
	problem := func(kind, code string) string {
		return `<entryRelationship typeCode="` + kind +
			`"><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.4"/>` +
			`<id root="2.16.840.1.113883.19.5" extension="` + code + `"/>
<code code="55607006" ` + ccdatest.Snomed + `/><effectiveTime><low value="20190613"/></effectiveTime>` +
			`<value xsi:type="CD" code="` + code + `" ` + ccdatest.InSnomed + `</observation></entryRelationship>`
	}
	const concern = `<code code="75310-3" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/>` +
		`<effectiveTime value="20190616"/>`
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "are problems with evidence", Section: "75310-3",
			Entries: ccdatest.PlannedAs("act", "ACT", "EVN", "132",
				concern+problem("REFR", "233604007")+problem("SPRT", "28743005")),
			Want: []string{
				"Condition | category.coding.code=health-concern | code.coding.code=233604007 | " +
					"clinicalStatus.coding.code=inactive | recordedDate=2019-06-16 | evidence.detail.reference",
				"Condition | code.coding.code=28743005 | !evidence | !clinicalStatus.coding.code=resolved",
			},
		},
		{
			Name: "may be about anything", Section: "75310-3",
			Entries: ccdatest.PlannedAs("act", "ACT", "EVN", "",
				`<code code="75310-3" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="active"/>
<entryRelationship typeCode="REFR"><observation classCode="OBS" moodCode="EVN">
<templateId root="2.16.840.1.113883.10.20.22.4.85"/>
<code code="11367-0" codeSystem="2.16.840.1.113883.6.1"/><value xsi:type="CD" code="449868002" `+ccdatest.InSnomed+
					`</observation></entryRelationship>`) +
				ccdatest.PlannedAs("act", "ACT", "EVN", "132",
					`<code code="75310-3" codeSystem="2.16.840.1.113883.6.1"/><text>Lives alone</text>`),
			Want: []string{
				"Condition | category.coding.code=health-concern | code.coding.code=449868002 | clinicalStatus.coding.code=active",
				"Observation | code.coding.code=11367-0",
				"Condition | category.coding.code=health-concern | code.text=Lives alone",
			},
		},
		{
			Name: "make concerns of problems elsewhere", Section: "11450-4",
			Entries: ccdatest.PlannedAs("observation", "OBS", "EVN", "4",
				`<code code="55607006" `+ccdatest.InSnomed+`<value xsi:type="CD" code="233604007" `+ccdatest.InSnomed) +
				ccdatest.NextSection("75310-3") +
				ccdatest.PlannedAs("act", "ACT", "EVN", "132",
					concern+
						`<entryRelationship typeCode="REFR">
<act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.122"/>
<id root="2.16.840.1.113883.19.5" extension="observationEVN"/><code nullFlavor="NP"/></act></entryRelationship>`),
			Want:  []string{"Condition | category.coding.code=health-concern | code.coding.code=233604007"},
			Never: []string{"Condition | !code.coding.code=233604007"},
		},
		{
			Name: "do not say that somebody has what they are at risk of", Section: "75310-3",
			Entries: ccdatest.PlannedAs("act", "ACT", "EVN", "136",
				`<code code="281694009" displayName="At risk" `+ccdatest.InSnomed+`<statusCode code="active"/>`+
					problem("REFR", "363346000")),
			Want: []string{"Condition | category.coding.code=health-concern | code.coding.code=281694009 | " +
				"evidence.code.coding.code=363346000 | clinicalStatus.coding.code=active"},
			Never: []string{"Condition | code.coding.code=363346000"},
		},
	})
}
