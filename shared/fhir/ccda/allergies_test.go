package ccda_test

import "testing"

// allergyOf is an allergy observation in its concern.
func allergyOf(attributes, rest string) string {
	return `<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.30"/><code code="CONC" codeSystem="2.16.840.1.113883.5.6"/><statusCode code="active"/>
<entryRelationship typeCode="SUBJ"><observation classCode="OBS" moodCode="EVN" ` + attributes + `><templateId root="2.16.840.1.113883.10.20.22.4.7"/><id root="2.16.840.1.113883.19.5" extension="a1"/>
<code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/><statusCode code="completed"/><effectiveTime><low value="20080501"/></effectiveTime>` + rest + `</observation></entryRelationship></act></entry>`
}

func allergyKind(code string) string {
	return `<value xsi:type="CD" code="` + code + `" ` + snomedCT + `/>`
}

const penicillin = `<participant typeCode="CSM"><participantRole classCode="MANU"><playingEntity classCode="MMAT">
<code code="70618" codeSystem="2.16.840.1.113883.6.88" displayName="Penicillin"/></playingEntity></participantRole></participant>`

func TestAllergies(t *testing.T) {
	t.Parallel()
	part := func(kind, root, code, value string) string {
		return `<entryRelationship typeCode="` + kind + `" inversionInd="true"><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.` + root + `"/>
<code code="` + code + `"/><statusCode code="completed"/><effectiveTime><low value="20080501"/><high value="20080503"/></effectiveTime>` + value + `</observation></entryRelationship>`
	}
	value := func(code string) string { return `<value xsi:type="CD" code="` + code + `" ` + snomedCT + `/>` }
	noSubstance := `<participant typeCode="CSM"><participantRole><playingEntity><code nullFlavor="NA"/></playingEntity></participantRole></participant>`
	runFacts(t, []factCase{
		{
			name: "have a kind, a category and their whole value", section: "48765-2", entries: allergyOf("", allergyKind("416098002")+penicillin),
			want: []string{"AllergyIntolerance | type=allergy | category.0=medication | code.coding.code=70618 | onsetDateTime=2008-05-01 | clinicalStatus.coding.code=active |" +
				" verificationStatus.coding.code=confirmed | extension.valueCodeableConcept.coding.code=416098002 | meta.tag.code=ASSERTION | meta.tag.code=CONC"},
			never: []string{"Observation"},
		},
		{
			name: "have no kind where their value says none", section: "48765-2", entries: allergyOf("", allergyKind("420134006")+penicillin),
			want: []string{"AllergyIntolerance | !type | !category | extension.valueCodeableConcept.coding.code=420134006"},
		},
		{
			name: "of which there are none have the code for it", section: "48765-2", entries: allergyOf(`negationInd="true"`, allergyKind("416098002")+noSubstance),
			want: []string{"AllergyIntolerance | code.coding.code=409137002 | verificationStatus.coding.code=confirmed | clinicalStatus.coding.code=active"},
		},
		{
			name: "that are denied are refuted, and have a status", section: "48765-2", entries: allergyOf(`negationInd="true"`, allergyKind("416098002")+penicillin),
			want: []string{"AllergyIntolerance | code.coding.code=70618 | verificationStatus.coding.code=refuted | clinicalStatus.coding.code=active"},
		},
		{
			name: "keep reactions with their severity, criticality, status and the last occurrence", section: "48765-2",
			entries: allergyOf("", allergyKind("414285001")+penicillin+part("SUBJ", "28", "33999-4", value("73425007"))+part("SUBJ", "145", "82606-5", `<value xsi:type="CD" code="CRITH" codeSystem="2.16.840.1.113883.5.1063"/>`)+
				`<entryRelationship typeCode="MFST"><observation><templateId root="2.16.840.1.113883.10.20.22.4.9"/><code code="ASSERTION"/><effectiveTime><low value="20080501"/><high value="20080502"/></effectiveTime>`+
				value("422587007")+part("SUBJ", "8", "SEV", value("255604002"))+`</observation></entryRelationship>`),
			want: []string{"AllergyIntolerance | category.0=food | criticality=high | clinicalStatus.coding.code=inactive | reaction.manifestation.coding.code=422587007 | reaction.severity=mild |" +
				" reaction.onset=2008-05-01 | lastOccurrence=2008-05-02 | meta.tag.code=CRITH | !reaction.1"},
			never: []string{"Observation"},
		},
		{
			name: "give the severity that they have themselves to their reactions", section: "48765-2",
			entries: allergyOf("", allergyKind("416098002")+penicillin+part("SUBJ", "8", "SEV", value("24484000"))+
				`<entryRelationship typeCode="MFST"><observation>`+value("422587007")+`</observation></entryRelationship>`),
			want: []string{"AllergyIntolerance | reaction.severity=severe | meta.tag.code=24484000"},
		},
		{
			name: "whose substance has no code have its name", section: "48765-2",
			entries: allergyOf("", allergyKind("416098002")+`<participant typeCode="CSM"><participantRole><playingEntity><code nullFlavor="OTH"/><name>Bee stings</name></playingEntity></participantRole></participant>`),
			want:    []string{"AllergyIntolerance | code.text=Bee stings"},
		},
		{
			name: "are found without templates and without a concern", section: "48765-2",
			entries: `<entry><observation>` + allergyKind("59037007") + penicillin + `</observation></entry>`,
			want:    []string{"AllergyIntolerance | type=intolerance | code.coding.code=70618"},
		},
	})
}
