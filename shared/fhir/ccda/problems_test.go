package ccda_test

import (
	"strings"
	"testing"
)

const snomedCT = `codeSystem="2.16.840.1.113883.6.96"`

// concern is a problem concern act around problem observations.
func concern(status, inner string) string {
	return `<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.3"/><id root="2.16.840.1.113883.19.5" extension="concern"/>
<code code="CONC" codeSystem="2.16.840.1.113883.5.6"/><statusCode code="` + status + `"/><effectiveTime><low value="20190102"/></effectiveTime>
<entryRelationship typeCode="SUBJ">` + inner + `</entryRelationship></act></entry>`
}

// problemOf is a problem observation; attributes are those of the observation besides class and mood.
func problemOf(attributes, rest string) string {
	return `<observation classCode="OBS" moodCode="EVN" ` + attributes + `><templateId root="2.16.840.1.113883.10.20.22.4.4"/><id root="2.16.840.1.113883.19.5" extension="p1"/>
<code code="55607006" ` + snomedCT + ` displayName="Problem"/><statusCode code="completed"/>` + rest + `</observation>`
}

const pneumonia = `<value xsi:type="CD" code="233604007" ` + snomedCT + ` displayName="Pneumonia"/>`

func TestProblems(t *testing.T) {
	t.Parallel()
	const low = `<effectiveTime><low value="20190101"/></effectiveTime>`
	status := func(code string) string {
		return `<entryRelationship typeCode="REFR"><observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.6"/>
<code code="33999-4" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/><value xsi:type="CD" code="` + code + `" ` + snomedCT + `/></observation></entryRelationship>`
	}
	runFacts(t, []factCase{
		{
			name: "become conditions of the list", section: "11450-4", entries: concern("active", problemOf("", low+pneumonia)),
			want: []string{"Condition | code.coding.code=233604007 | code.coding.system=http://snomed.info/sct | onsetDateTime=2019-01-01 | clinicalStatus.coding.code=active |" +
				" verificationStatus.coding.code=confirmed | category.0.coding.code=problem-list-item | category.1.coding.code=55607006 | identifier.value=p1 | meta.tag.code=CONC"},
			never: []string{"Observation"},
		},
		{
			name: "have the status of their observation before that of the concern", section: "11450-4", entries: concern("active", problemOf("", low+pneumonia+status("73425007"))),
			want: []string{"Condition | clinicalStatus.coding.code=inactive | meta.tag.code=33999-4"},
		},
		{
			name: "are resolved when their concern is completed", section: "11450-4", entries: concern("completed", problemOf("", low+pneumonia)),
			want: []string{"Condition | clinicalStatus.coding.code=resolved | !abatementDateTime"},
		},
		{
			name: "that have ended are not active, whatever is said", section: "11450-4",
			entries: concern("active", problemOf("", `<effectiveTime><low value="201901"/><high value="20190203"/></effectiveTime>`+pneumonia+status("55561003"))),
			want:    []string{"Condition | onsetDateTime=2019-01 | abatementDateTime=2019-02-03 | clinicalStatus.coding.code=resolved"},
		},
		{
			name: "that have ended nobody knows when are resolved", section: "11450-4",
			entries: concern("active", problemOf("", `<effectiveTime><low value="2019"/><high nullFlavor="UNK"/></effectiveTime>`+pneumonia)),
			want:    []string{"Condition | onsetDateTime=2019 | !abatementDateTime | _abatementDateTime.extension.valueCode=unknown | clinicalStatus.coding.code=resolved"},
		},
		{
			name: "that are suspected are not confirmed", section: "11450-4",
			entries: concern("active", problemOf("", low+`<value xsi:type="CD" code="278516003" `+snomedCT+`><qualifier><name code="408729009" `+snomedCT+`/><value code="415684004" `+snomedCT+`/></qualifier></value>`)),
			want:    []string{"Condition | code.coding.code=278516003 | verificationStatus.coding.code=provisional | meta.tag.code=415684004"},
		},
		{
			name: "that are denied are refuted", section: "11450-4", entries: concern("active", problemOf(`negationInd="true"`, low+pneumonia)),
			want: []string{"Condition | verificationStatus.coding.code=refuted | code.coding.code=233604007"},
		},
		{
			name: "of which there are none are that", section: "11450-4",
			entries: concern("active", problemOf(`negationInd="true"`, low+`<value xsi:type="CD" code="55607006" `+snomedCT+`/>`)),
			want:    []string{"Condition | verificationStatus.coding.code=confirmed | code.coding.code=160245001 | meta.tag.code=55607006"},
		},
		{
			name: "may be known by other codes and words alone", section: "11450-4",
			entries: `<text><table><tbody><tr><td ID="n1">Lung  infection</td></tr></tbody></table></text>` + concern("active", problemOf("", low+
				`<value xsi:type="CD" nullFlavor="OTH"><originalText><reference value="#n1"/></originalText><translation code="J18.9" codeSystem="2.16.840.1.113883.6.90"/></value>`)),
			want: []string{"Condition | code.text=Lung infection | code.coding.0.code=J18.9 | code.coding.0.system=http://hl7.org/fhir/sid/icd-10-cm | !code.coding.1"},
		},
		{
			name: "keep severity, age, place, note and date of diagnosis", section: "11450-4",
			entries: concern("active", problemOf("", `<effectiveTime nullFlavor="UNK"/>`+pneumonia+`<targetSiteCode code="39607008" `+snomedCT+`/>
<entryRelationship typeCode="SUBJ"><observation><templateId root="2.16.840.1.113883.10.20.22.4.8"/><code code="SEV" codeSystem="2.16.840.1.113883.5.4"/><value xsi:type="CD" code="24484000" `+snomedCT+`/></observation></entryRelationship>
<entryRelationship typeCode="SUBJ"><observation><templateId root="2.16.840.1.113883.10.20.22.4.31"/><code code="445518008" `+snomedCT+`/><value xsi:type="PQ" value="57" unit="a"/></observation></entryRelationship>
<entryRelationship typeCode="SUBJ"><act><code code="48767-8" codeSystem="2.16.840.1.113883.6.1"/><text>Watch it</text></act></entryRelationship>
<entryRelationship typeCode="COMP"><act><templateId root="2.16.840.1.113883.10.20.22.4.502"/><code code="77975-1" codeSystem="2.16.840.1.113883.6.1"/><effectiveTime value="20190105"/></act></entryRelationship>`)),
			want:  []string{"Condition | severity.coding.code=24484000 | onsetAge.value=57 | onsetAge.code=a | bodySite.coding.code=39607008 | note.text=Watch it | extension.valueDateTime=2019-01-05"},
			never: []string{"Observation"},
		},
		{
			name: "beside an onset leave the age to an observation", section: "11450-4",
			entries: concern("active", problemOf("", low+pneumonia+`<entryRelationship typeCode="SUBJ"><observation><templateId root="2.16.840.1.113883.10.20.22.4.31"/>
<code code="445518008" `+snomedCT+`/><value xsi:type="PQ" value="57" unit="a"/></observation></entryRelationship>`)),
			want: []string{"Observation | code.coding.code=445518008 | valueQuantity.value=57 | focus.reference", "Condition | !onsetAge"},
		},
		{
			name: "are found without templates", section: "11450-4",
			entries: `<entry><act><statusCode code="active"/><entryRelationship><observation><code code="64572001"/>` + pneumonia + `</observation></entryRelationship></act></entry>`,
			want:    []string{"Condition | code.coding.code=233604007 | category.coding.code=problem-list-item | clinicalStatus.coding.code=active"},
		},
		{
			name: "are found in the templates of R1.1 and of CCD, by the section's title", section: `<section><title>Problem List</title>`,
			entries: `<entry><act><templateId root="2.16.840.1.113883.10.20.1.27"/><entryRelationship><observation><templateId root="2.16.840.1.113883.10.20.1.28"/>` + pneumonia + `</observation></entryRelationship></act></entry>`,
			want:    []string{"Condition | code.coding.code=233604007 | category.coding.code=problem-list-item"},
		},
		{
			name: "that were found at discharge belong to the encounter", section: "11535-2",
			entries: `<entry><act><templateId root="2.16.840.1.113883.10.20.22.4.33"/><code code="11535-2" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/><entryRelationship typeCode="SUBJ">` +
				problemOf("", low+pneumonia) + `</entryRelationship></act></entry>`,
			want: []string{"Condition | category.coding.code=encounter-diagnosis | clinicalStatus.coding.code=active | meta.tag.code=11535-2"},
		},
		{
			name: "that have no code have a reason for it", section: "11450-4", entries: concern("active", problemOf("", low+`<value xsi:type="CD" nullFlavor="ASKU"/>`)),
			want: []string{"Condition | code.coding.code=asked-unknown"},
		},
	})
}

// TestWhatWasFoundAtDischargeIsADiagnosisOfTheDocumentsEncounter also where the same problem was one of admission.
func TestWhatWasFoundAtDischargeIsADiagnosisOfTheDocumentsEncounter(t *testing.T) {
	t.Parallel()
	const stay = `<componentOf><encompassingEncounter><id root="2.16.840.1.113883.19.3" extension="stay"/><effectiveTime><low value="20190101"/><high value="20190105"/></effectiveTime></encompassingEncounter></componentOf>`
	found := func(section, of string) string {
		return `<component><section><code code="` + section + `" codeSystem="2.16.840.1.113883.6.1"/><entry><act><templateId root="2.16.840.1.113883.10.20.22.4.` + of + `"/>` +
			`<entryRelationship typeCode="SUBJ">` + problemOf("", `<effectiveTime><low value="20190101"/></effectiveTime>`+pneumonia) + `</entryRelationship></act></entry></section></component>`
	}
	facts := documentFacts(t, document(somePatient+stay, `<structuredBody>`+found("46241-6", "34")+found("11535-2", "33")+found("11535-2", "33")+`</structuredBody>`))
	wants(t, facts, "Encounter | diagnosis.use.coding.code=AD | diagnosis.use.coding.code=DD | diagnosis.condition.reference", "Condition | code.coding.code=233604007 | encounter.reference")
	for _, f := range facts {
		if n := strings.Count(f.json, `"use":{`); f.kind == "Encounter" && n != 2 {
			t.Errorf("%d diagnoses, want each once: %s", n, f.json)
		}
	}
}

// TestAConcernIsToldByAProvenance: Condition has no place for when a concern began to be one, nor for a second author.
func TestAConcernIsToldByAProvenance(t *testing.T) {
	t.Parallel()
	author := func(id, when string) string {
		return `<author><time value="` + when + `"/><assignedAuthor><id root="2.16.840.1.113883.4.6" extension="` + id + `"/></assignedAuthor></author>`
	}
	entries := concern("active", problemOf("", `<effectiveTime><low value="20190101"/></effectiveTime>`+pneumonia+author("1", "20190301")+author("2", "20190302")))
	factCase{
		section: "11450-4", entries: entries,
		want: []string{
			"Condition | recordedDate=2019-03-01 | recorder.reference",
			"Provenance | occurredDateTime=2019-01-02 | activity.coding.code=CONC | target.0.reference | !target.1",
			"Provenance | occurredDateTime=2019-03-01 | agent.type.coding.code=author", "Provenance | occurredDateTime=2019-03-02",
		},
	}.check(t)
}
