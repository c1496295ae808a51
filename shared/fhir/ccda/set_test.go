package ccda_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"recordbridge/infra/testkit/ccdatest"
	"recordbridge/shared/fhir/ccda"
	"recordbridge/shared/fhir/ccda/emit"
)

// telling returns a document with the given id, time, patient and section entries.
func telling(id, when, patient, section, entries string) string {
	return `<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">` +
		`<id root="2.16.840.1.113883.19.9" extension="` + id + `"/><effectiveTime value="` + when + `"/>
<recordTarget><patientRole>` + patient + `</patientRole></recordTarget><component><structuredBody><component>` +
		`<section><code code="` + section + `" codeSystem="2.16.840.1.113883.6.1"/>` +
		entries + `</section></component></structuredBody></component></ClinicalDocument>`
}

func patientID(extension string) string {
	return `<id root="2.16.840.1.113883.19.1" extension="` + extension + `"/>`
}

func TestDocumentSetPrefersLaterDocumentWhenMergingFact(t *testing.T) {
	t.Parallel()
	onset := `<effectiveTime><low value="2019"/></effectiveTime>`
	first := telling("d1", "20190601", patientID("a"), "11450-4",
		ccdatest.Concern("active", ccdatest.ProblemOf("",
			onset+ccdatest.Pneumonia+`<targetSiteCode code="39607008" `+ccdatest.Snomed+`/>`)))
	second := telling("d2", "20200601", patientID("b")+patientID("a"), "11450-4",
		ccdatest.Concern("completed", ccdatest.ProblemOf("", onset+ccdatest.Pneumonia)))
	resources := ccdatest.DocumentFacts(t, second, first)
	ccdatest.Wants(t, resources, "Condition | clinicalStatus.coding.code=inactive | bodySite.coding.code=39607008 | "+
		"meta.source=urn:uuid:f8725765-47c3-5445-a5c2-55315fa996b8",
		"Patient | identifier.value=a | identifier.value=b")
	if ccdatest.Count(resources, "Condition") != 1 || ccdatest.Count(resources, "Patient") != 1 ||
		ccdatest.Count(resources, "Composition") != 2 {
		t.Errorf("%d Conditions, %d Patients, %d Compositions", ccdatest.Count(resources, "Condition"),
			ccdatest.Count(resources, "Patient"), ccdatest.Count(resources, "Composition"))
	}
	var condition string
	for _, r := range resources {
		if r.Kind == "Condition" {
			_, condition, _ = strings.Cut(r.JSON, `"id":"`)
			condition = "Condition/" + condition[:36]
		}
	}
	sources := 0
	for _, r := range resources {
		if r.Kind == "Provenance" && r.Values["entity.role=source"] && strings.Contains(r.JSON, condition) {
			sources++
		}
	}
	if sources != 2 {
		t.Errorf("%d sources of the condition", sources)
	}
}

func TestDocumentSetMergesReportedMedicationFromTwoDocuments(t *testing.T) {
	t.Parallel()
	const told = `<informant><relatedEntity classCode="PRS"><relatedPerson><name><family>Mother</family></name>` +
		`</relatedPerson></relatedEntity></informant>`
	informed := telling("d1", "20190601", patientID("a"), "10160-0", ccdatest.MedicationOf("EVN", told))
	silent := telling("d2", "20200601", patientID("a"), "10160-0", ccdatest.MedicationOf("EVN", ""))
	for name, documents := range map[string][]string{
		"informed first": {informed, silent},
		"silent first":   {silent, informed},
	} {
		resources := ccdatest.DocumentFacts(t, documents...)
		ccdatest.Wants(t, resources, "MedicationRequest | intent=plan | reportedReference.display=Mother | !reportedBoolean")
		if n := ccdatest.Count(resources, "MedicationRequest"); n != 1 {
			t.Errorf("%s: %d MedicationRequests", name, n)
		}
	}
}

func TestDocumentSetDropsAbatementWhenLaterDocumentReportsActiveProblem(t *testing.T) {
	t.Parallel()
	ended := `<effectiveTime><low value="2019"/><high value="201902"/></effectiveTime>`
	resources := ccdatest.DocumentFacts(t, telling("d1", "20190601", patientID("a"), "11450-4",
		ccdatest.Concern("completed", ccdatest.ProblemOf("", ended+ccdatest.Pneumonia))),
		telling("d2", "20200601", patientID("a"), "11450-4",
			ccdatest.Concern("active", ccdatest.ProblemOf("",
				`<effectiveTime><low value="2019"/></effectiveTime>`+ccdatest.Pneumonia))))
	ccdatest.Wants(t, resources, "Condition | clinicalStatus.coding.code=active | !abatementDateTime")
}

func TestDocumentSetSeparatesPatientsWithEqualFactIDs(t *testing.T) {
	t.Parallel()
	entries := ccdatest.Concern("active", ccdatest.ProblemOf("", ccdatest.Pneumonia))
	resources := ccdatest.DocumentFacts(t, telling("d1", "20190601", patientID("a"), "11450-4", entries),
		telling("d2", "20190602", patientID("b"), "11450-4", entries))
	if ccdatest.Count(resources, "Patient") != 2 || ccdatest.Count(resources, "Condition") != 2 {
		t.Errorf("%d Conditions of %d Patients", ccdatest.Count(resources, "Condition"), ccdatest.Count(resources, "Patient"))
	}
	subjects := map[string]bool{}
	for _, r := range resources {
		if r.Kind == "Condition" {
			_, subject, _ := strings.Cut(r.JSON, `"subject":{"reference":"Patient/`)
			subjects[subject[:36]] = true
		}
	}
	if len(subjects) != 2 {
		t.Errorf("the Conditions have the subjects %v", subjects)
	}
}

func TestConvertKeepsBothContradictoryFacts(t *testing.T) {
	t.Parallel()
	value := func(n string) string {
		return `<entry><observation classCode="OBS" moodCode="EVN"><id root="107c2dc0-67a5-11db-bd13-0800200c9a66"/>
<code code="30313-1" codeSystem="2.16.840.1.113883.6.1"/><effectiveTime value="2000"/>
<value xsi:type="PQ" value="` + n + `" unit="g/dl"/></observation></entry>`
	}
	resources := ccdatest.Facts(t, "62387-6", value("13.20")+value("10.70")+value("13.20"))
	ccdatest.Wants(t, resources, "Observation | valueQuantity.value=13.2", "Observation | valueQuantity.value=10.7")
	if ccdatest.Count(resources, "Observation") != 2 {
		t.Errorf("%d Observations", ccdatest.Count(resources, "Observation"))
	}
	for _, r := range resources {
		if r.Values["valueQuantity.value=13.2"] && !strings.Contains(r.JSON, `"value":13.20,`) {
			t.Errorf("a number lost a digit: %s", r.JSON)
		}
	}
}

func TestDocumentSetEmitsSameResourcesForAnyDocumentOrder(t *testing.T) {
	t.Parallel()
	documents := make([][]byte, 3)
	for i, id := range []string{"d1", "d2", "d3"} {
		documents[i] = []byte(telling(id, "2019060"+string(rune('1'+i)), patientID("a"), "11450-4",
			ccdatest.Concern("active", ccdatest.ProblemOf("", ccdatest.Pneumonia))))
	}
	forwards, _ := ccdatest.Lines(t, documents...)
	backwards, _ := ccdatest.Lines(t, documents[2], documents[0], documents[1], documents[0])
	if !bytes.Equal(forwards, backwards) {
		t.Errorf("%s\nis not\n%s", forwards, backwards)
	}
}

func TestConvertKeepsIDsAcrossDocumentVersions(t *testing.T) {
	t.Parallel()
	version := func(id, n string) string {
		return strings.Replace(telling(id, "2019060"+n, patientID("a"), "11450-4",
			`<entry><observation><value xsi:type="CD" code="1"/></observation></entry>`), "<recordTarget>",
			`<setId root="2.16.840.1.113883.19.9" extension="set"/><versionNumber value="`+n+`"/><recordTarget>`, 1)
	}
	if resources := ccdatest.DocumentFacts(t, version("d1", "1"), version("d2", "2")); ccdatest.Count(resources,
		"Condition") != 1 {
		t.Errorf("%d Conditions of one without an id, in two versions of a document", ccdatest.Count(resources, "Condition"))
	}
}

func TestDocumentSetKeepsOtherDocumentsWhenOneIsRejected(t *testing.T) {
	t.Parallel()
	var s ccda.Set
	if err := s.Add([]byte(ccdatest.Document(ccdatest.SomePatient, ""))); err != nil {
		t.Fatal(err)
	}
	if err := s.Add([]byte("<a>")); !errors.Is(err, ccda.ErrInvalid) {
		t.Errorf("%v, want ErrInvalid", err)
	}
	stop, emitted := errors.New("full"), 0
	report, err := s.Emit(func(ccda.Resource) error {
		if emitted++; emitted == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || emitted != 2 || len(report.Documents) != 1 {
		t.Errorf("%v after %d resources of %d documents", err, emitted, len(report.Documents))
	}
}

func TestReportCountsResourcesTemplatesAndDroppedParts(t *testing.T) {
	t.Parallel()
	_, report := ccdatest.Lines(t,
		[]byte(telling("d1", "20190601", patientID("a"), "11450-4",
			ccdatest.Concern("active", ccdatest.ProblemOf("",
				`<effectiveTime><low value="soon"/></effectiveTime>`+ccdatest.Pneumonia))+
				`<entry><observation><templateId root="2.16.840.1.113883.19.77"/><code code="x"/></observation></entry>`)))
	d := report.Documents[0]
	if d.Source != "urn:uuid:7a46ac9d-4704-5c38-88cf-9abe17b618e5" || d.Templates["2.16.840.1.113883.10.20.22.4.3"] != 1 ||
		d.Unknown["2.16.840.1.113883.19.77"] != 1 || report.Resources["Condition"] != 2 ||
		len(d.Sections) != 1 || d.Sections[0] != (emit.SectionReport{Code: "11450-4", Rule: "Problems", Entries: 2}) ||
		len(d.Dropped) != 1 || d.Dropped[0].Reason != "no time that exists" {
		t.Errorf("%+v", report)
	}
}
