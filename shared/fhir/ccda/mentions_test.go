package ccda_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda"
)

// mentions returns a document that states one fact count times, each with its own id, code, author and note.
func mentions(count int) []byte {
	var entries strings.Builder
	for i := range count {
		n := strconv.Itoa(i)
		entries.WriteString(
			`<entry><observation classCode="OBS" moodCode="EVN"><id root="107c2dc0-67a5-11db-bd13-0800200c9a66"/>` +
				`<id root="2.16.840.1.113883.19.1" extension="` + n + `"/>
<code code="30313-1" codeSystem="2.16.840.1.113883.6.1"><translation code="` + n + `" codeSystem="2.16.840.1.1138` +
				`83.6.1"/></code><text>note ` + n + `</text><effectiveTime value="2000"/>
<interpretationCode code="N" codeSystem="2.16.840.1.113883.5.83"/>
<author><time value="2020"/><assignedAuthor><id root="2.16.840.1.113883.4.6" extension="9900001234"/>
<assignedPerson><name><given>Fir` + n + `</given><family>Sample</family></name></assignedPerson></assignedAuthor>
</author>
</observation></entry>`)
	}
	return []byte(telling("d1", "20190601", patientID("a"), "30954-2", entries.String()))
}

// BenchmarkMentions shows whether the time per mention grows with the number of mentions.
func BenchmarkMentions(b *testing.B) {
	for _, count := range []int{500, 1000, 2000, 4000, 8000} {
		document := mentions(count)
		b.Run(strconv.Itoa(count), func(b *testing.B) {
			for b.Loop() {
				if _, err := ccda.Convert(document, func(ccda.Resource) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/mention")
		})
	}
}

// TestDocumentSetMergesPartsOfRepeatedFact covers facts repeated within one document or in a second document, including
// long lists.
func TestDocumentSetMergesPartsOfRepeatedFact(t *testing.T) {
	t.Parallel()
	const count = 300
	twice := append(mentions(count), []byte{}...)
	earlier := []byte(strings.NewReplacer(`extension="d1"`, `extension="d0"`, "20190601", "20180601", `extension="7"`,
		`extension="new"`).Replace(string(mentions(count))))
	var set ccda.Set
	for _, document := range [][]byte{mentions(count), twice, earlier} {
		if err := set.Add(document); err != nil {
			t.Fatal(err)
		}
	}
	told := map[string][]string{}
	if _, err := set.Emit(func(r ccda.Resource) error {
		told[r.Type] = append(told[r.Type], string(r.JSON))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(told["Observation"]) != 1 || len(told["Practitioner"]) != 1 {
		t.Fatalf("%d Observations, %d Practitioners", len(told["Observation"]), len(told["Practitioner"]))
	}
	fact := told["Observation"][0]
	for i := range count {
		for _, part := range []string{`"value":"%d"`, `"text":"note %d"`} {
			if part = fmt.Sprintf(part, i); strings.Count(fact, part) != 1 {
				t.Errorf("%d times %s", strings.Count(fact, part), part)
			}
		}
	}
	if strings.Count(fact, `"value":"new"`) != 1 ||
		strings.Index(fact, `"value":"new"`) < strings.Index(fact, `"value":"299"`) {
		t.Error("what the earlier document adds does not stand behind")
	}
	if names := strings.Count(told["Practitioner"][0], `"family"`); names != 100 {
		t.Errorf("%d names of one person", names)
	}
	if codes := strings.Count(fact[strings.Index(fact, `"code":{`):strings.Index(fact, `"subject"`)],
		`"code":"`); codes != 100 {
		t.Errorf("%d codes for one thing", codes)
	}
}

func TestDocumentSetRejectsDocumentWithTooManyParts(t *testing.T) {
	t.Parallel()
	ids := func(count int) string { return strings.Repeat(`<id root="2.16.840.1.113883.19.1"/>`, count) }
	entries := strings.Repeat(`<entry/>`, 3000) + `<text>` + strings.Repeat(`<br/>`, 3000) + `</text>`
	for count, taken := range map[int]bool{2000: true, 2001: false} {
		var set ccda.Set
		if err := set.Add([]byte(telling("d1", "20190601", ids(count), "30954-2", entries))); (err == nil) != taken {
			t.Errorf("%d ids: %v", count, err)
		}
	}
}
