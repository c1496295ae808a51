package ccda_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"recordbridge/infra/testkit/ccdatest"
	"recordbridge/shared/fhir/ccda"
)

// outputLimit returns the documented output budget of a document (docs/reference/ccda.md, "Budget").
func outputLimit(document []byte) int { return 8*len(document) + 256<<10 }

// repeatedly repeats text n times, replacing "#" with the repetition's number.
func repeatedly(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "#", strconv.Itoa(i)))
	}
	return b.String()
}

func long(n int) string { return strings.Repeat("x", n) }

const numbered = `<entry><observation classCode="OBS" moodCode="EVN"><id root="2.16.840.1.113883.19.6" extension="#"/>`

// piece holds those parts of a document whose conversion multiplies their size: the document id's extension, the
// elements before the body, and the sections.
type piece struct{ id, header, sections string }

func sectionWith(title, text, entries string) string {
	return `<component><section><code code="30954-2" codeSystem="2.16.840.1.113883.6.1"/><title>` + title +
		`</title><text>` + text + `</text>` + entries + `</section></component>`
}

const someAuthor = `<author><time value="2024"/><assignedAuthor><id root="2.16.840.1.113883.19.4" ` +
	`extension="#"/><assignedPerson><name><family>#</family></name></assignedPerson></assignedAuthor></author>`

// amplifiers returns document parts of about size bytes each whose output is much larger.
func amplifiers(size int) map[string]piece {
	many := min(size/300, 1900)
	toNarrative := `<code><originalText><reference value="#t"/></originalText></code>`
	toNarrative = strings.ReplaceAll(toNarrative, "#t", "t")
	by := `<author><time value="2024"/><assignedAuthor><id root="2.16.840.1.113883.19.4" extension="long"/>` +
		`</assignedAuthor></author>`
	deep := min(many, 200)
	return map[string]piece{
		"references to the narrative": {sections: sectionWith("", `<content ID="t">`+long(size/2)+`</content>`,
			repeatedly(many, numbered+toNarrative+`</observation></entry>`))},
		"references to nested narrative": {sections: sectionWith("",
			repeatedly(deep, `<content ID="n#">`)+long(size/2)+strings.Repeat(`</content>`, deep),
			repeatedly(deep, numbered+`<text><reference value="n#"/></text></observation></entry>`))},
		"values that refer to the narrative": {sections: sectionWith("", `<content ID="t">`+long(size/2)+`</content>`,
			`<entry><observation>`+repeatedly(many, `<value xsi:type="ST"><reference value="t"/></value>`)+
				`</observation></entry>`)},
		"notes of the narrative": {sections: sectionWith("", `<content ID="t">`+long(size/2)+`</content>`,
			repeatedly(many,
				`<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.202"/>`+
					`<id root="2.16.840.1.113883.19.6" extension="#"/><text><reference value="#t"/></text></act></entry>`))},
		"a long title of a section": {sections: sectionWith(long(size/2), "",
			repeatedly(many, numbered+`<code code="#" codeSystem="2.999"/></observation></entry>`))},
		"a long name of an author": {
			header: `<author><assignedAuthor><id root="2.16.840.1.113883.19.4" extension="long"/><assignedPerson><name>` +
				`<family>` + long(size/2) + `</family></name></assignedPerson></assignedAuthor></author>`,
			sections: sectionWith("", "", repeatedly(many,
				numbered+by+`<code code="#" codeSystem="2.999"/></observation></entry>`)),
		},
		"a long code of many values": {sections: sectionWith("", "",
			`<entry><observation><code code="1" codeSystem="2.999" displayName="`+long(size/2)+`"/>`+
				repeatedly(many, `<value xsi:type="INT" value="#"/>`)+`</observation></entry>`)},
		"many translations of many values": {sections: sectionWith("", "",
			`<entry><observation><code code="1" codeSystem="2.999">`+
				repeatedly(many/2, `<translation code="t#" codeSystem="2.999"/>`)+`</code>`+
				repeatedly(many, `<value xsi:type="INT" value="#"/>`)+`</observation></entry>`)},
		"concerns with evidence": {sections: `<component><section><code code="75310-3" ` +
			`codeSystem="2.16.840.1.113883.6.1"/><entry><act classCode="ACT" moodCode="EVN">` +
			`<templateId root="2.16.840.1.113883.10.20.22.4.132"/>` +
			repeatedly(many/2,
				`<entryRelationship typeCode="REFR"><observation classCode="OBS" moodCode="EVN">`+
					`<templateId root="2.16.840.1.113883.10.20.22.4.4"/><id root="2.16.840.1.113883.19.6" extension="p#"/>`+
					`<value code="#" codeSystem="2.16.840.1.113883.6.96"/></observation></entryRelationship>`) +
			repeatedly(many/2,
				`<entryRelationship typeCode="SPRT"><observation classCode="OBS" moodCode="EVN">`+
					`<id root="2.16.840.1.113883.19.6" extension="s#"/><code code="s#" codeSystem="2.999"/></observation>`+
					`</entryRelationship>`) + `</act></entry></section></component>`},
		"empty sections": {sections: strings.Repeat(`<component><section/></component>`, min(size/33, 1900))},
		"empty sections in sections": {sections: strings.Repeat(`<component><section>`+
			strings.Repeat(`<component><section/></component>`, 300)+`</section></component>`, size/10_000)},
		"authors of entries": {sections: sectionWith("", "",
			repeatedly(max(1, many/30), numbered+`<code code="#" codeSystem="2.999"/>`+
				repeatedly(100, `<author><time value="20240101#"/></author>`)+`</observation></entry>`))},
		"performers of a panel": {sections: sectionWith("", "", `<entry><organizer classCode="CLUSTER" moodCode="EVN">`+
			repeatedly(many/2,
				`<performer><assignedEntity><id root="2.16.840.1.113883.19.4" extension="#"/></assignedEntity></performer>`)+
			repeatedly(many/2,
				`<component><observation classCode="OBS" moodCode="EVN"><code code="#" codeSystem="2.999"/></observation>`+
					`</component>`)+`</organizer></entry>`)},
		"statements in values": {sections: sectionWith("", "",
			repeatedly(min(many, 60), numbered+`<value xsi:type="ST">`)+long(size/2)+
				strings.Repeat(`</value></observation></entry>`, min(many, 60)))},
		"quotes": {sections: sectionWith("", strings.Repeat(`"`, size), "")},
		"a long header": {header: repeatedly(many/4,
			`<author><assignedAuthor><id root="2.16.840.1.113883.19.4" extension="#"/></assignedAuthor></author>`) +
			repeatedly(many/4,
				`<authenticator><time value="2024"/><assignedEntity><id root="2.16.840.1.113883.19.4" extension="#"/>`+
					`</assignedEntity></authenticator>`) +
			repeatedly(many/4, `<documentationOf><serviceEvent classCode="A#"/></documentationOf>`) +
			repeatedly(many/4,
				`<relatedDocument typeCode="APND"><parentDocument><id root="2.999" extension="#"/></parentDocument>`+
					`</relatedDocument>`)},
		"a long patient": {header: `<recordTarget><patientRole>` + repeatedly(many/4, `<id root="2.999" extension="#"/>`) +
			repeatedly(many/4, `<telecom value="tel:#"/>`) + repeatedly(many/4, `<addr use="H"/>`) +
			`<patient>` + repeatedly(many/4, `<raceCode code="#"/>`) + repeatedly(many/4, `<ethnicGroupCode code="#"/>`) +
			repeatedly(many/4, `<languageCommunication><languageCode code="en"/></languageCommunication>`) +
			`</patient></patientRole></recordTarget>`},
		"authors of a section of notes": {sections: `<component><section><code code="34109-9" ` +
			`codeSystem="2.16.840.1.113883.6.1"/><text>x</text>` + repeatedly(many/2, someAuthor) +
			repeatedly(many/2,
				`<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.202"/>`+
					`<id root="2.16.840.1.113883.19.6" extension="#"/><text>note #</text></act></entry>`) + `</section></component>`},
		"authors of a document of notes": {
			header: repeatedly(many/2, someAuthor),
			sections: repeatedly(many/2,
				`<component><section><code code="34109-9" codeSystem="2.16.840.1.113883.6.1"/><title>#</title>`+
					`<text>note #</text></section></component>`),
		},
		"authors of a document of facts": {
			header: repeatedly(many/2, someAuthor),
			sections: sectionWith("", "", repeatedly(many/2,
				numbered+`<code code="#" codeSystem="2.999"/></observation></entry>`)),
		},
		"authors of a panel": {sections: sectionWith("", "",
			`<entry><organizer classCode="BATTERY" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.1"/>`+
				repeatedly(many/2, someAuthor)+
				repeatedly(many/2,
					`<component><observation classCode="OBS" moodCode="EVN"><code code="#" codeSystem="2.999"/>`+
						`<value xsi:type="INT" value="#"/></observation></component>`)+`</organizer></entry>`)},
		"specimens of a panel": {sections: sectionWith("", "",
			`<entry><organizer classCode="BATTERY" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.1"/>`+
				repeatedly(many/2,
					`<specimen><specimenRole><id root="2.16.840.1.113883.19.7" extension="#"/><specimenPlayingEntity>`+
						`<code code="#" codeSystem="2.999"/></specimenPlayingEntity></specimenRole></specimen>`)+
				repeatedly(many/2,
					`<component><observation classCode="OBS" moodCode="EVN"><code code="#" codeSystem="2.999"/>`+
						`<value xsi:type="INT" value="#"/></observation></component>`)+`</organizer></entry>`)},
		"references to one list of facts": {sections: sectionWith("", "",
			`<entry><organizer classCode="CLUSTER" moodCode="EVN"><id root="2.16.840.1.113883.19.6" extension="all"/>`+
				repeatedly(many/3,
					`<component><observation classCode="OBS" moodCode="EVN"><id root="2.16.840.1.113883.19.6" `+
						`extension="same"/><code code="#" codeSystem="2.999"/></observation></component>`)+`</organizer></entry>`+
				repeatedly(many/3,
					`<entry><procedure classCode="PROC" moodCode="EVN"><id root="2.16.840.1.113883.19.6" extension="p#"/>`+
						`<code code="#" codeSystem="2.999"/>`+
						`<entryRelationship typeCode="RSON"><act classCode="ACT" moodCode="EVN">`+
						`<id root="2.16.840.1.113883.19.6" extension="same"/></act></entryRelationship></procedure></entry>`))},
		"references to a long reason": {sections: sectionWith("", "",
			numbered+
				`<id root="2.16.840.1.113883.19.6" extension="r"/><code code="r" codeSystem="2.999"/>`+
				`<value xsi:type="CD" code="1" codeSystem="2.999" displayName="`+long(size/2)+`"/></observation></entry>`+
				repeatedly(many/2,
					`<entry><procedure classCode="PROC" moodCode="EVN"><id root="2.16.840.1.113883.19.6" extension="p#"/>`+
						`<code code="#" codeSystem="2.999"/>`+
						`<entryRelationship typeCode="RSON"><observation classCode="OBS" moodCode="EVN">`+
						`<templateId root="2.16.840.1.113883.10.20.22.4.19"/><id root="2.16.840.1.113883.19.6" extension="0"/>`+
						`</observation></entryRelationship></procedure></entry>`))},
		"a long product of many doses": {sections: sectionWith("", "",
			`<entry><substanceAdministration classCode="SBADM" moodCode="EVN">`+
				`<id root="2.16.840.1.113883.19.6" extension="m"/><consumable><manufacturedProduct><manufacturedMaterial>`+
				`<code code="1" codeSystem="2.999" displayName="`+long(size/2)+`"/></manufacturedMaterial>`+
				`</manufacturedProduct></consumable>`+
				repeatedly(many/2,
					`<entryRelationship typeCode="REFR"><supply classCode="SPLY" moodCode="EVN">`+
						`<id root="2.16.840.1.113883.19.6" extension="s#"/><quantity value="#"/></supply></entryRelationship>`)+
				`</substanceAdministration></entry>`)},
		"encounters with diagnoses": {
			header: `<componentOf><encompassingEncounter><id root="2.16.840.1.113883.19.6" extension="e"/>` +
				`<effectiveTime value="2024"/>` + repeatedly(many/3, `<encounterParticipant typeCode="ATND"><assignedEntity>`+
				`<id root="2.16.840.1.113883.19.4" extension="#"/></assignedEntity></encounterParticipant>`) +
				`</encompassingEncounter></componentOf>`,
			sections: sectionWith("", "", repeatedly(many/3,
				`<entry><encounter classCode="ENC" moodCode="EVN"><id root="2.16.840.1.113883.19.6" extension="e"/>`+
					`<code code="#" codeSystem="2.999"/></encounter></entry>`)),
		},
		"a long schedule of a drug": {sections: sectionWith("", "",
			`<entry><substanceAdministration classCode="SBADM" moodCode="INT">`+
				repeatedly(many, `<effectiveTime xsi:type="PIVL_TS"><period value="#" unit="sometimes"/></effectiveTime>`)+
				`</substanceAdministration></entry>`)},
		"a long id of the document": {
			id: long(size / 2),
			sections: sectionWith("", "", repeatedly(many,
				numbered+`<code code="#" codeSystem="2.999"/></observation></entry>`)),
		},
	}
}

// amplified returns a document that contains the given pieces.
func amplified(pieces ...piece) []byte {
	var id, header, sections strings.Builder
	id.WriteString("d 1")
	for _, p := range pieces {
		id.WriteString(p.id)
		header.WriteString(p.header)
		sections.WriteString(p.sections)
	}
	text := ccdatest.Document(header.String()+ccdatest.SomePatient,
		`<structuredBody>`+sections.String()+`</structuredBody>`)
	return []byte(strings.Replace(text, `extension="d 1"`, `extension="`+id.String()+`"`, 1))
}

// converted converts a document, and checks that the output stays within the budget and has no dangling references.
func converted(t *testing.T, name string, document []byte) (out []byte, report ccda.DocumentReport) {
	t.Helper()
	ndjson, all := ccdatest.Lines(t, document)
	if len(ndjson) > outputLimit(document) {
		t.Errorf("%s: %d bytes became %d, of %d at most", name, len(document), len(ndjson), outputLimit(document))
	}
	checkReferences(t, name, ndjson)
	return ndjson, all.Documents[0]
}

func TestConvertStaysWithinBudgetForAmplifyingDocuments(t *testing.T) {
	t.Parallel()
	for name, p := range amplifiers(300 << 10) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			document := amplified(p)
			out, report := converted(t, name, document)
			for _, kind := range []string{"Patient", "Composition"} {
				if report.Resources[kind] != 1 {
					t.Errorf("%d resources of type %s", report.Resources[kind], kind)
				}
			}
			if report.IsCut() != bytes.Contains(out, []byte(`"code":"SUBSETTED"`)) {
				t.Errorf("cut: %v, and the record says otherwise: %v", report.IsCut(), report.Dropped)
			}
			t.Logf("%d bytes became %d (%.1f), %v", len(document), len(out), float64(len(out))/float64(len(document)),
				report.Dropped)
		})
	}
}

func TestConvertStaysWithinBudgetForRandomDocuments(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(30, 9))
	for range 40 {
		all := amplifiers(2000 + random.IntN(60<<10))
		names := slices.Sorted(maps.Keys(all))
		chosen := make([]string, 1+random.IntN(4))
		pieces := make([]piece, len(chosen))
		for i := range chosen {
			chosen[i] = names[random.IntN(len(names))]
			pieces[i] = all[chosen[i]]
		}
		converted(t, strings.Join(chosen, " + "), amplified(pieces...))
	}
}

// A 1.15 MB document once became 421 MB because each of its 800 entries repeated the narrative that the entry refers to
// (docs/reference/ccda.md).
//
//nolint:paralleltest // measures what is allocated
func TestConvertDropsNarrativeReferencesOverBudget(t *testing.T) {
	entry := numbered + `<code><originalText><reference value="t"/></originalText></code></observation></entry>`
	attack := amplified(piece{sections: sectionWith("", `<content ID="t">`+long(1<<20)+`</content>`,
		repeatedly(800, entry))})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, report := converted(t, "attack", attack)
	runtime.ReadMemStats(&after)
	// The measured allocation includes the test's own decoding of the output.
	if allocated := int(after.TotalAlloc - before.TotalAlloc); allocated > 150<<20 {
		t.Errorf("%d MB were allocated for a document of %d bytes", allocated>>20, len(attack))
	}
	dropped := 0
	for _, d := range report.Dropped {
		dropped += d.Count
	}
	if !report.IsCut() || report.Resources["Observation"]+dropped < 800 {
		t.Errorf("%d observations were made, and dropped are %v", report.Resources["Observation"], report.Dropped)
	}
	composition := slices.Collect(bytes.Lines(out))
	kept := slices.ContainsFunc(composition, func(line []byte) bool {
		return bytes.Contains(line, []byte(`"resourceType":"Composition"`)) && bytes.Contains(line, []byte(long(1<<20))) &&
			bytes.Contains(line, []byte("SUBSETTED"))
	})
	if !kept {
		t.Error("the narrative is not in the Composition, or no tag says that part of the document was dropped")
	}
}

// Documents from HL7 and this project use less than half of the statement limit, with and without white space.
func TestConvertStaysBelowBudgetForRealDocuments(t *testing.T) {
	t.Parallel()
	for name, document := range honestDocuments(t) {
		out, report := converted(t, name, document)
		if share := float64(len(out)) / float64(outputLimit(document)); report.IsCut() || share > 0.35 {
			t.Errorf("%s: %d bytes became %d, %.0f %% of its budget; %v", name, len(document), len(out), 100*share,
				report.Dropped)
		}
	}
}

// honestDocuments returns the documents from wholeDocuments, keyed by name. Each document is included twice: unchanged,
// and without white space between its elements.
func honestDocuments(t *testing.T) map[string][]byte {
	t.Helper()
	all := wholeDocuments(t)
	for name, document := range maps.Clone(all) {
		all[name+" without white space"] = regexp.MustCompile(`>\s+<`).ReplaceAll(document, []byte("><"))
	}
	return all
}

// wholeDocuments returns the project's documents, and the public documents if they are available, keyed by file name.
func wholeDocuments(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, pattern := range []string{"testdata/*.xml", publicFolder + "/*.xml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			document, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all[filepath.Base(file)] = document
		}
	}
	return all
}
