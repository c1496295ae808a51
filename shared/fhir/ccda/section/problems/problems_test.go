package problems_test

import (
	"strings"
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

func TestConvertMapsProblemsToConditions(t *testing.T) {
	t.Parallel()
	const low = `<effectiveTime><low value="20190101"/></effectiveTime>`
	status := func(code string) string {
		return `<entryRelationship typeCode="REFR">
<observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.6"/>
<code code="33999-4" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/>
<value xsi:type="CD" code="` + code + `" ` + ccdatest.Snomed + `/></observation></entryRelationship>`
	}
	ccdatest.Run(t, []ccdatest.Case{
		{
			Name: "become conditions of the list", Section: "11450-4",
			Entries: ccdatest.Concern("active", ccdatest.ProblemOf("", low+ccdatest.Pneumonia)),
			Want: []string{"Condition | code.coding.code=233604007 | code.coding.system=http://snomed.info/sct | " +
				"onsetDateTime=2019-01-01 | clinicalStatus.coding.code=active |" +
				" verificationStatus.coding.code=confirmed | category.0.coding.code=problem-list-item | " +
				"category.1.coding.code=55607006 | identifier.value=p1 | meta.tag.code=CONC"},
			Never: []string{"Observation"},
		},
		{
			Name: "have the status of their observation before that of the concern", Section: "11450-4",
			Entries: ccdatest.Concern("active", ccdatest.ProblemOf("", low+ccdatest.Pneumonia+status("73425007"))),
			Want:    []string{"Condition | clinicalStatus.coding.code=inactive | meta.tag.code=33999-4"},
		},
		{
			Name: "are inactive when their concern is completed", Section: "11450-4",
			Entries: ccdatest.Concern("completed", ccdatest.ProblemOf("", low+ccdatest.Pneumonia)),
			Want:    []string{"Condition | clinicalStatus.coding.code=inactive | !abatementDateTime"},
		},
		{
			Name: "that have ended are not active, whatever is said", Section: "11450-4",
			Entries: ccdatest.Concern("active", ccdatest.ProblemOf("",
				`<effectiveTime><low value="201901"/><high value="20190203"/></effectiveTime>`+ccdatest.Pneumonia+
					status("55561003"))),
			Want: []string{"Condition | onsetDateTime=2019-01 | abatementDateTime=2019-02-03 | " +
				"clinicalStatus.coding.code=inactive"},
		},
		{
			Name: "that have ended nobody knows when are inactive", Section: "11450-4",
			Entries: ccdatest.Concern("active", ccdatest.ProblemOf("",
				`<effectiveTime><low value="2019"/><high nullFlavor="UNK"/></effectiveTime>`+ccdatest.Pneumonia)),
			Want: []string{"Condition | onsetDateTime=2019 | !abatementDateTime | " +
				"_abatementDateTime.extension.valueCode=unknown | clinicalStatus.coding.code=inactive"},
		},
		{
			Name: "that are suspected are not confirmed", Section: "11450-4",
			Entries: ccdatest.Concern("active", ccdatest.ProblemOf("",
				low+`<value xsi:type="CD" code="278516003" `+ccdatest.Snomed+`><qualifier><name code="408729009" `+ccdatest.Snomed+
					`/><value code="415684004" `+ccdatest.Snomed+`/></qualifier></value>`)),
			Want: []string{"Condition | code.coding.code=278516003 | verificationStatus.coding.code=provisional | " +
				"meta.tag.code=415684004"},
		},
		{
			Name: "that are denied are refuted", Section: "11450-4",
			Entries: ccdatest.Concern("active", ccdatest.ProblemOf(`negationInd="true"`, low+ccdatest.Pneumonia)),
			Want:    []string{"Condition | verificationStatus.coding.code=refuted | code.coding.code=233604007"},
		},
		{
			Name: "of which there are none are that", Section: "11450-4",
			Entries: ccdatest.Concern("active", ccdatest.ProblemOf(`negationInd="true"`,
				low+`<value xsi:type="CD" code="55607006" `+ccdatest.Snomed+`/>`)),
			Want: []string{"Condition | verificationStatus.coding.code=confirmed | code.coding.code=160245001 | " +
				"meta.tag.code=55607006"},
		},
		{
			Name: "may be known by other codes and words alone", Section: "11450-4",
			Entries: `<text><table><tbody><tr><td ID="n1">Lung  infection</td></tr></tbody></table></text>` +
				ccdatest.Concern("active", ccdatest.ProblemOf("", low+
					`<value xsi:type="CD" nullFlavor="OTH"><originalText><reference value="#n1"/></originalText>`+
					`<translation code="J18.9" codeSystem="2.16.840.1.113883.6.90"/></value>`)),
			Want: []string{"Condition | code.text=Lung infection | code.coding.0.code=J18.9 | " +
				"code.coding.0.system=http://hl7.org/fhir/sid/icd-10-cm | !code.coding.1"},
		},
		{
			Name: "keep severity, age, place, note and date of diagnosis", Section: "11450-4",
			Entries: ccdatest.Concern("active", ccdatest.ProblemOf("",
				`<effectiveTime nullFlavor="UNK"/>`+ccdatest.Pneumonia+`<targetSiteCode code="39607008" `+ccdatest.Snomed+`/>
<entryRelationship typeCode="SUBJ"><observation><templateId root="2.16.840.1.113883.10.20.22.4.8"/>
<code code="SEV" codeSystem="2.16.840.1.113883.5.4"/>
<value xsi:type="CD" code="24484000" `+ccdatest.Snomed+`/></observation></entryRelationship>
<entryRelationship typeCode="SUBJ"><observation><templateId root="2.16.840.1.113883.10.20.22.4.31"/>
<code code="445518008" `+ccdatest.Snomed+`/><value xsi:type="PQ" value="57" unit="a"/></observation></entryRelationship>
<entryRelationship typeCode="SUBJ"><act><code code="48767-8" codeSystem="2.16.840.1.113883.6.1"/>
<text>Watch it</text></act></entryRelationship>
<entryRelationship typeCode="COMP"><act><templateId root="2.16.840.1.113883.10.20.22.4.502"/>
<code code="77975-1" codeSystem="2.16.840.1.113883.6.1"/><effectiveTime value="20190105"/></act></entryRelationship>`)),
			Want: []string{"Condition | severity.coding.code=24484000 | onsetAge.value=57 | onsetAge.code=a | " +
				"bodySite.coding.code=39607008 | note.text=Watch it | extension.valueDateTime=2019-01-05"},
			Never: []string{"Observation"},
		},
		{
			Name: "beside an onset leave the age to an observation", Section: "11450-4",
			Entries: ccdatest.Concern("active", ccdatest.ProblemOf("",
				low+ccdatest.Pneumonia+
					`<entryRelationship typeCode="SUBJ"><observation><templateId root="2.16.840.1.113883.10.20.22.4.31"/>
<code code="445518008" `+ccdatest.Snomed+`/><value xsi:type="PQ" value="57" unit="a"/></observation>`+
					`</entryRelationship>`)),
			Want: []string{
				"Observation | code.coding.code=445518008 | valueQuantity.value=57 | focus.reference",
				"Condition | !onsetAge",
			},
		},
		{
			Name: "are found without templates", Section: "11450-4",
			Entries: `<entry><act><statusCode code="active"/><entryRelationship><observation><code code="64572001"/>` +
				ccdatest.Pneumonia + `</observation></entryRelationship></act></entry>`,
			Want: []string{"Condition | code.coding.code=233604007 | category.coding.code=problem-list-item | " +
				"clinicalStatus.coding.code=active"},
		},
		{
			Name:    "are found in the templates of R1.1 and of CCD, by the section's title",
			Section: `<section><title>Problem List</title>`,
			Entries: `<entry><act><templateId root="2.16.840.1.113883.10.20.1.27"/><entryRelationship><observation>` +
				`<templateId root="2.16.840.1.113883.10.20.1.28"/>` + ccdatest.Pneumonia + `</observation></entryRelationship` +
				`></act></entry>`,
			Want: []string{"Condition | code.coding.code=233604007 | category.coding.code=problem-list-item"},
		},
		{
			Name: "that were found at discharge belong to the encounter", Section: "11535-2",
			Entries: `<entry><act><templateId root="2.16.840.1.113883.10.20.22.4.33"/>` +
				`<code code="11535-2" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/>` +
				`<entryRelationship typeCode="SUBJ">` +
				ccdatest.ProblemOf("", low+ccdatest.Pneumonia) + `</entryRelationship></act></entry>`,
			Want: []string{"Condition | category.coding.code=encounter-diagnosis | !clinicalStatus | meta.tag.code=11535-2"},
		},
		{
			Name: "that have no code have a reason for it", Section: "11450-4",
			Entries: ccdatest.Concern("active", ccdatest.ProblemOf("", low+`<value xsi:type="CD" nullFlavor="ASKU"/>`)),
			Want:    []string{"Condition | code.coding.code=asked-unknown"},
		},
	})
}

// TestDischargeDiagnosisReferencesDocumentEncounter covers a problem that is both a discharge and an admission
// diagnosis.
func TestDischargeDiagnosisReferencesDocumentEncounter(t *testing.T) {
	t.Parallel()
	const stay = `<componentOf><encompassingEncounter><id root="2.16.840.1.113883.19.3" extension="stay"/>` +
		`<effectiveTime><low value="20190101"/><high value="20190105"/></effectiveTime></encompassingEncounter>` +
		`</componentOf>`
	found := func(section, of string) string {
		return `<component><section><code code="` + section +
			`" codeSystem="2.16.840.1.113883.6.1"/><entry><act><templateId root="2.16.840.1.113883.10.20.22.4.` + of + `"/>` +
			`<entryRelationship typeCode="SUBJ">` + ccdatest.ProblemOf("",
			`<effectiveTime><low value="20190101"/></effectiveTime>`+ccdatest.Pneumonia) +
			`</entryRelationship></act></entry></section></component>`
	}
	facts := ccdatest.DocumentFacts(t, ccdatest.Document(ccdatest.SomePatient+stay,
		`<structuredBody>`+found("46241-6", "34")+found("11535-2", "33")+found("11535-2", "33")+`</structuredBody>`))
	ccdatest.Wants(t, facts, "Encounter | diagnosis.use.coding.code=AD | diagnosis.use.coding.code=DD | "+
		"diagnosis.condition.reference", "Condition | code.coding.code=233604007 | encounter.reference")
	for _, f := range facts {
		if n := strings.Count(f.JSON, `"use":{`); f.Kind == "Encounter" && n != 2 {
			t.Errorf("%d diagnoses, want each once: %s", n, f.JSON)
		}
	}
}

// TestConcernAuthorIsConvertedToProvenance covers a concern's start and second author, which Condition can't hold.
func TestConcernAuthorIsConvertedToProvenance(t *testing.T) {
	t.Parallel()
	author := func(id, when string) string {
		return `<author><time value="` + when + `"/><assignedAuthor><id root="2.16.840.1.113883.4.6" extension="` + id +
			`"/></assignedAuthor></author>`
	}
	entries := ccdatest.Concern("active", ccdatest.ProblemOf("",
		`<effectiveTime><low value="20190101"/></effectiveTime>`+ccdatest.Pneumonia+author("1", "20190301")+
			author("2", "20190302")))
	ccdatest.Case{
		Section: "11450-4", Entries: entries,
		Want: []string{
			"Condition | recordedDate=2019-03-01 | recorder.reference",
			"Provenance | occurredDateTime=2019-01-02 | activity.coding.code=CONC | target.0.reference | !target.1",
			"Provenance | occurredDateTime=2019-03-01 | agent.type.coding.code=author",
			"Provenance | occurredDateTime=2019-03-02",
		},
	}.Check(t)
}
