package allergies_test

import (
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsAllergiesToAllergyIntolerance(t *testing.T) {
	t.Parallel()
	part := func(kind, root, code, value string) string {
		return `<entryRelationship typeCode="` + kind +
			`" inversionInd="true"><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.` +
			root + `"/>
<code code="` + code + `"/><statusCode code="completed"/><effectiveTime><low value="20080501"/>` +
			`<high value="20080503"/></effectiveTime>` + value + `</observation></entryRelationship>`
	}
	value := func(code string) string {
		return `<value xsi:type="CD" code="` + code + `" ` + ccdatest.Snomed + `/>`
	}
	noSubstance := `<participant typeCode="CSM"><participantRole><playingEntity><code nullFlavor="NA"/>` +
		`</playingEntity></participantRole></participant>`
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "have a kind, a category and their whole value", Section: "48765-2",
			Entries: ccdatest.AllergyOf("", ccdatest.AllergyKind("416098002")+ccdatest.Penicillin),
			Want: []string{"AllergyIntolerance | type=allergy | category.0=medication | code.coding.code=70618 | " +
				"onsetDateTime=2008-05-01 | clinicalStatus.coding.code=active |" +
				" verificationStatus.coding.code=confirmed | meta.tag.code=416098002 | meta.tag.code=ASSERTION | " +
				"meta.tag.code=CONC"},
			Never: []string{"Observation"},
		},
		{
			Name: "have no kind where their value says none", Section: "48765-2",
			Entries: ccdatest.AllergyOf("", ccdatest.AllergyKind("420134006")+ccdatest.Penicillin),
			Want:    []string{"AllergyIntolerance | !type | !category | meta.tag.code=420134006"},
		},
		{
			Name: "of which there are none have the code for it", Section: "48765-2",
			Entries: ccdatest.AllergyOf(`negationInd="true"`, ccdatest.AllergyKind("416098002")+noSubstance),
			Want: []string{"AllergyIntolerance | code.coding.code=409137002 | verificationStatus.coding.code=confirmed | " +
				"clinicalStatus.coding.code=active"},
		},
		{
			Name: "that are denied are refuted, and have a status", Section: "48765-2",
			Entries: ccdatest.AllergyOf(`negationInd="true"`, ccdatest.AllergyKind("416098002")+ccdatest.Penicillin),
			Want: []string{"AllergyIntolerance | code.coding.code=70618 | verificationStatus.coding.code=refuted | " +
				"clinicalStatus.coding.code=inactive"},
		},
		{
			Name: "keep reactions with their severity, criticality, status and the last occurrence", Section: "48765-2",
			Entries: ccdatest.AllergyOf("", ccdatest.AllergyKind("414285001")+ccdatest.Penicillin+
				part("SUBJ", "28", "33999-4", value("73425007"))+
				part("SUBJ", "145", "82606-5", `<value xsi:type="CD" code="CRITH" codeSystem="2.16.840.1.113883.5.1063"/>`)+
				`<entryRelationship typeCode="MFST"><observation><templateId root="2.16.840.1.113883.10.20.22.4.9"/>`+
				`<code code="ASSERTION"/><effectiveTime><low value="20080501"/><high value="20080502"/></effectiveTime>`+
				value("422587007")+part("SUBJ", "8", "SEV", value("255604002"))+`</observation></entryRelationship>`),
			Want: []string{"AllergyIntolerance | category.0=food | criticality=high | clinicalStatus.coding.code=inactive | " +
				"reaction.manifestation.coding.code=422587007 | reaction.severity=mild |" +
				" reaction.onset=2008-05-01 | lastOccurrence=2008-05-02 | meta.tag.code=CRITH | !reaction.1"},
			Never: []string{"Observation"},
		},
		{
			Name: "give the severity that they have themselves to their reactions", Section: "48765-2",
			Entries: ccdatest.AllergyOf("", ccdatest.AllergyKind("416098002")+ccdatest.Penicillin+
				part("SUBJ", "8", "SEV", value("24484000"))+
				`<entryRelationship typeCode="MFST"><observation>`+value("422587007")+`</observation></entryRelationship>`),
			Want: []string{"AllergyIntolerance | reaction.severity=severe | meta.tag.code=24484000"},
		},
		{
			Name: "whose substance has no code have its name", Section: "48765-2",
			Entries: ccdatest.AllergyOf("", ccdatest.AllergyKind("416098002")+
				`<participant typeCode="CSM"><participantRole><playingEntity><code nullFlavor="OTH"/><name>Bee stings</name>`+
				`</playingEntity></participantRole></participant>`),
			Want: []string{"AllergyIntolerance | code.text=Bee stings"},
		},
		{
			Name: "are found without templates and without a concern", Section: "48765-2",
			Entries: `<entry><observation>` + ccdatest.AllergyKind("59037007") + ccdatest.Penicillin + `</observation></entry>`,
			Want:    []string{"AllergyIntolerance | type=intolerance | code.coding.code=70618"},
		},
	})
}
