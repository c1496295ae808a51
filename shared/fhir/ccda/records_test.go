package ccda_test

import "testing"

func TestFamilyHistory(t *testing.T) {
	t.Parallel()
	const father = `<subject><relatedSubject classCode="PRS"><code code="FTH" codeSystem="2.16.840.1.113883.5.111"/><subject><administrativeGenderCode code="M"/><birthTime value="1910"/>%</subject></relatedSubject></subject>`
	age := func(years string) string {
		return `<entryRelationship typeCode="SUBJ" inversionInd="true"><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.31"/><code code="445518008" ` + inSnomed +
			`<value xsi:type="PQ" value="` + years + `" unit="a"/></observation></entryRelationship>`
	}
	had := func(attributes, inside string) string {
		return `<component><observation classCode="OBS" moodCode="EVN"` + attributes + `><templateId root="2.16.840.1.113883.10.20.22.4.46"/><code code="64572001" ` + inSnomed + `<statusCode code="completed"/>
<effectiveTime value="1967"/><value xsi:type="CD" code="22298006" ` + inSnomed + inside + `</observation></component>`
	}
	death := `<entryRelationship typeCode="CAUS"><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.47"/><code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/>
<value xsi:type="CD" code="419099009" ` + inSnomed
	organizer := func(inside string) string {
		return `<entry><organizer classCode="CLUSTER" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.45"/><statusCode code="completed"/>` + inside + `</organizer></entry>`
	}
	runFacts(t, []factCase{
		{
			name: "tells who had what, when, and died of it", section: "10157-6",
			entries: organizer(father + had("", age("57")+death+age("60")+`</observation></entryRelationship>`)),
			want: []string{
				"FamilyMemberHistory | status=completed | relationship.coding.code=FTH | sex.coding.code=male | bornDate=1910 | condition.code.coding.code=22298006 | condition.onsetAge.value=57 | condition.onsetAge.code=a |" +
					" condition.contributedToDeath=true | deceasedAge.value=60 | !deceasedBoolean",
			},
			never: []string{"Observation"},
		},
		{
			name: "has the time where no age is known", section: "10157-6",
			entries: organizer(father + had("", death+`</observation></entryRelationship>`)),
			want:    []string{"FamilyMemberHistory | condition.onsetPeriod.start=1967 | deceasedBoolean=true | !condition.onsetAge"},
		},
		{
			name: "does not say that somebody had what they had not", section: "10157-6",
			entries: organizer(had(` negationInd="true"`, "")),
			want:    []string{"FamilyMemberHistory | !condition | relationship.coding.code=unknown", "Observation | component.code.coding.code=22298006 | component.valueBoolean=false"},
		},
		{
			name: "may have no organizer and no template", section: "10157-6",
			entries: `<entry><observation classCode="OBS" moodCode="EVN"><code code="64572001" ` + inSnomed + `<value xsi:type="CD" nullFlavor="OTH"><originalText>bad heart</originalText></value></observation></entry>`,
			want:    []string{"FamilyMemberHistory | condition.code.text=bad heart | relationship"},
		},
	})
}

func TestCareTeams(t *testing.T) {
	t.Parallel()
	const member = `<component><act classCode="PCPR" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.500.1"/><code code="85847-2" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="active"/>
<effectiveTime><low value="20190101"/></effectiveTime><performer typeCode="PRF"><sdtc:functionCode code="PCP" codeSystem="2.16.840.1.113883.5.88"/><assignedEntity><id root="2.16.840.1.113883.19.4" extension="m"/>
<assignedPerson><name><family>Member</family></name></assignedPerson></assignedEntity></performer></act></component>`
	const kind = `<component><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.500.2"/><code code="86744-0" codeSystem="2.16.840.1.113883.6.1"/>
<value xsi:type="CD" code="LA28865-6" codeSystem="2.16.840.1.113883.6.1"/></observation></component>`
	runFacts(t, []factCase{
		{
			name: "have members with functions", section: "85847-2",
			entries: `<entry><organizer classCode="CLUSTER" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.500"/><code code="86744-0" codeSystem="2.16.840.1.113883.6.1"><originalText>Team A</originalText></code>
<statusCode code="active"/><effectiveTime><low value="20180101"/></effectiveTime>` + kind + member + `</organizer></entry>`,
			want: []string{
				"CareTeam | status=active | name=Team A | period.start=2018-01-01 | category.coding.code=LA28865-6 | participant.role.coding.code=PCP | participant.member.display=Member | participant.period.start=2019-01-01",
			},
		},
		{
			name: "may have no templates, and members no function", section: "85847-2",
			entries: `<entry><organizer classCode="CLUSTER" moodCode="EVN"><statusCode code="completed"/><component><act classCode="PCPR" moodCode="EVN">` + doneBy + `</act></component></organizer></entry>`,
			want:    []string{"CareTeam | status=inactive | participant.role.coding.code=unknown | participant.member.display=Doer"},
		},
	})
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	policy := func(template, inside string) string {
		return `<entry><act classCode="ACT" moodCode="EVN">` + template + `<id root="2.16.840.1.113883.19.5" extension="list"/><code code="48768-6" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/>
<entryRelationship typeCode="COMP"><sequenceNumber value="2"/><act classCode="ACT" moodCode="EVN"><id root="2.16.840.1.113883.19.6" extension="group7"/><code code="12" codeSystem="2.16.840.1.113883.3.221.5"/>
<statusCode code="completed"/>` + inside + `</act></entryRelationship></act></entry>`
	}
	const payer = `<performer typeCode="PRF"><assignedEntity><id root="2.16.840.1.113883.19.7" extension="naic"/><code code="PAYOR" codeSystem="2.16.840.1.113883.5.110"/><telecom value="tel:1" use="HP"/>
<representedOrganization><name>Insurer</name></representedOrganization></assignedEntity></performer>`
	const guarantor = `<performer typeCode="PRF"><assignedEntity><id root="2.16.840.1.113883.19.7" extension="g"/><code code="GUAR" codeSystem="2.16.840.1.113883.5.110"/><assignedPerson><name><family>Payer</family></name></assignedPerson>
</assignedEntity></performer>`
	const covered = `<participant typeCode="COV"><time><low value="20190101"/></time><participantRole classCode="PAT"><id root="2.16.840.1.113883.19.8" extension="m1"/><code code="CHILD" codeSystem="2.16.840.1.113883.5.111"/></participantRole></participant>`
	const holder = `<participant typeCode="HLD"><participantRole><id root="2.16.840.1.113883.19.8" extension="h1"/><playingEntity><name><family>Holder</family></name></playingEntity></participantRole></participant>`
	runFacts(t, []factCase{
		{
			name: "tells who pays for whom", section: "48768-6",
			entries: policy(`<templateId root="2.16.840.1.113883.10.20.22.4.60"/>`, payer+guarantor+covered+holder+`<entryRelationship typeCode="REFR"><act classCode="ACT" moodCode="DEF"><id root="2.16.840.1.113883.19.6" extension="plan1"/>
<code nullFlavor="UNK"/><text>Gold</text></act></entryRelationship>`),
			want: []string{
				"Coverage | status=active | type.coding.code=12 | order=2 | payor.0.display=Insurer | payor.1.display=Payer | subscriberId=h1 | subscriber.display=Holder | policyHolder.display=Holder | relationship.coding.0.code=child |" +
					" relationship.coding.1.code=CHILD | period.start=2019-01-01 | class.0.type.coding.code=group | class.0.value=group7 | class.1.type.coding.code=plan | class.1.value=plan1 | class.1.name=Gold |" +
					" identifier.type.coding.code=MB | identifier.value=m1 | meta.tag.code=48768-6",
				"Organization | name=Insurer | identifier.value=naic", "RelatedPerson | name.family=Payer | relationship.coding.code=GUAR",
			},
			never: []string{"Practitioner | name.family=Payer"},
		},
		{
			name: "is told by section, and of nobody known", section: "48768-6",
			entries: policy("", ""),
			want:    []string{"Coverage | payor.display=Unknown | beneficiary.reference | !subscriber"},
		},
	})
}

func TestAdvanceDirectives(t *testing.T) {
	t.Parallel()
	directive := func(root, inside string) string {
		return `<observation classCode="OBS" moodCode="EVN">` + root + `<id root="2.16.840.1.113883.19.5" extension="ad"/><code code="304251008" ` + inSnomed + `<statusCode code="completed"/>
<effectiveTime><low value="20110219"/><high nullFlavor="NA"/></effectiveTime>` + inside + `</observation>`
	}
	const template = `<templateId root="2.16.840.1.113883.10.20.22.4.48"/>`
	const document = `<reference typeCode="REFR"><externalDocument><id root="b50b7910-7ffb-4f4c-bbe4-177ed68cbbf3"/><text mediaType="application/pdf"><reference value="directive.pdf"/></text></externalDocument></reference>`
	const verifier = `<participant typeCode="VRF"><time value="20120101"/><participantRole><id root="2.16.840.1.113883.19.4" extension="v"/><playingEntity><name><family>Verifier</family></name></playingEntity></participantRole></participant>`
	runFacts(t, []factCase{
		{
			name: "are consents with their document", section: "42348-3",
			entries: `<entry><organizer classCode="CLUSTER" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.108"/><code code="45473-6" codeSystem="2.16.840.1.113883.6.1"/><component>` +
				directive(template, `<value xsi:type="CD" code="304253006" `+inSnomed+writtenBy+verifier+document) + `</component></organizer></entry>`,
			want: []string{
				"Consent | status=active | scope.coding.code=adr | category.coding.code=acd | category.coding.code=304251008 | provision.code.coding.code=304253006 | provision.period.start=2011-02-19 | dateTime=2019-02-03 |" +
					" verification.verified=true | verification.verificationDate=2012-01-01 | provision.actor.reference.display=Verifier | provision.actor.role.coding.code=VRF | sourceReference.reference | meta.tag.code=45473-6 | policyRule | !performer",
				"DocumentReference | content.attachment.url=directive.pdf | content.attachment.contentType=application/pdf",
			},
			never: []string{"Observation"},
		},
		{
			name: "are observations where they answer a question", section: "42348-3",
			entries: `<entry>` + directive("", `<value xsi:type="BL" value="true"/>`+document) + `</entry>`,
			want:    []string{"Observation | code.coding.code=304251008 | valueBoolean=true | derivedFrom.reference"},
			never:   []string{"Consent"},
		},
		{
			name: "may have words alone", section: "42348-3",
			entries: `<entry>` + directive("", `<text>No machines</text><value xsi:type="CD" nullFlavor="UNK"/>`) + `</entry>`,
			want:    []string{"Consent | provision.code.text=No machines"},
		},
	})
}
