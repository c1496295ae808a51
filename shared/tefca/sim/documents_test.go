package sim_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/people"
)

// everyFacility calls each for every patient and facility with retrievable documents.
func everyFacility(t *testing.T, each func(p people.Patient, at tefca.Facility, documents [][]byte)) {
	t.Helper()
	for _, p := range people.All() {
		last, _ := located(t, t.Context(), instant(), assertion(p))
		for _, f := range inOrder(last) {
			documents, _ := held(t, assertion(p), f)
			documents = slices.DeleteFunc(documents, func(content []byte) bool { return !isXML(content) })
			if len(documents) > 0 {
				each(p, f, documents)
			}
		}
	}
}

// TestDocumentsAreConvertedCompletely checks that the converter has a rule for every section and entry and discards no
// content.
func TestDocumentsAreConvertedCompletely(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	everyFacility(t, func(p people.Patient, at tefca.Facility, documents [][]byte) {
		if len(documents) > 6 {
			t.Errorf("%s has %d documents at %s", p.Person.Given, len(documents), number(at))
		}
		_, report := converted(t, documents)
		for _, d := range report.Documents {
			kinds[d.Code]++
			if len(d.Unknown) > 0 || len(d.Dropped) > 0 {
				t.Errorf("%s: unknown %v, dropped %v", d.Source, d.Unknown, d.Dropped)
			}
			for _, s := range d.Sections {
				if s.Rule == "" {
					t.Errorf("%s: no rule for the section %s", d.Source, s.Code)
				}
			}
		}
	})
	if kinds["34133-9"] < 20 || kinds["18842-5"] < 3 || kinds["11506-3"] < 3 {
		t.Errorf("there are %v", kinds)
	}
}

// TestEachStatementIsConvertedToOneResource compares the resources with the statements in a facility's documents,
// counted by an independent XML reader. A fact stated in several documents becomes one resource.
func TestEachStatementIsConvertedToOneResource(t *testing.T) {
	t.Parallel()
	become := map[string][]string{ // entry templates by resource type; each entry becomes one resource
		"Condition": {"4.4"}, "AllergyIntolerance": {"4.7"}, "MedicationRequest": {"4.16"}, "Immunization": {"4.52"},
		"Procedure": {"4.14"},
		// Two blood pressure values become one resource, and their panel becomes another.
		"DiagnosticReport": {"4.1"}, "Observation": {"4.2", "4.27", "4.78"},
	}
	told, owner := 0, map[string]string{}
	everyFacility(t, func(p people.Patient, at tefca.Facility, documents [][]byte) {
		all, report := converted(t, documents)
		stated := map[string]map[string]bool{}
		visits := map[string]bool{}
		for _, d := range documents {
			root := read(t, d)
			root.walk(func(e *element) {
				for _, id := range e.templates() {
					if stated[id] == nil {
						stated[id] = map[string]bool{}
					}
					stated[id][e.id()] = true
					// Locations are the same for all patients.
					if whose, known := owner[e.id()]; known && whose != p.Subject && e.id() != "" && id != "4.32" {
						t.Errorf("%s has a fact of %s", p.Subject, whose)
					}
					owner[e.id()] = p.Subject
				}
				if e.XMLName.Local == "encompassingEncounter" || slices.Contains(e.templates(), "4.49") {
					visits[e.id()] = true
				}
			})
		}
		for kind, templates := range become {
			want := 0
			for _, id := range templates {
				want += len(stated[id])
			}
			told += want
			if got := len(all[kind]); got != want {
				t.Errorf("%s at %s: %d of %s, of %d statements", p.Person.Given, number(at), got, kind, want)
			}
		}
		if len(all["Encounter"]) != len(visits) || len(all["Patient"]) != 1 || len(all["Composition"]) != len(documents) {
			t.Errorf("%s at %s: %v of %d visits", p.Person.Given, number(at), report.Resources, len(visits))
		}
	})
	if told < 700 {
		t.Errorf("only %d facts", told)
	}
}

func TestDocumentsIdentifyRequestedPatient(t *testing.T) {
	t.Parallel()
	everyFacility(t, func(p people.Patient, at tefca.Facility, documents [][]byte) {
		var patient struct {
			Name []struct {
				Family string
				Given  []string
			}
			BirthDate, Gender string
			Address           []struct{ PostalCode string }
		}
		_, err := ccda.Convert(documents[0], func(r ccda.Resource) error {
			if r.Type == "Patient" {
				return json.Unmarshal(r.JSON, &patient)
			}
			return nil
		})
		home := p.Person.Addresses[0]
		if number(at) == "16" { // this facility has only the patient's former address on file
			home = p.Person.Addresses[1]
		}
		switch {
		case err != nil:
			t.Error(err)
		case len(patient.Name) != 1 || patient.Name[0].Family != p.Person.Family ||
			patient.Name[0].Given[0] != p.Person.Given,
			patient.BirthDate != p.Person.BirthDate, patient.Gender != p.Person.Sex, len(patient.Address) != 1 ||
				patient.Address[0].PostalCode != home.PostalCode:
			t.Errorf("%s at %s is %+v", p.Person.Given, number(at), patient)
		}
		custodian := read(t, documents[0]).first("representedCustodianOrganization")
		if !slices.ContainsFunc(custodian.Children,
			func(e *element) bool { return "urn:oid:"+e.attribute("root") == at.ID }) {
			t.Errorf("%s is not the custodian", at.ID)
		}
	})
}

// TestDocumentsContainNoFutureDates checks every date except those in the header.
func TestDocumentsContainNoFutureDates(t *testing.T) {
	t.Parallel()
	everyFacility(t, func(p people.Patient, _ tefca.Facility, documents [][]byte) {
		for _, d := range documents {
			root, times := read(t, d), 0
			made := root.first("effectiveTime").attribute("value")[:len("20060102")]
			root.first("structuredBody").walk(func(e *element) {
				value := e.attribute("value")
				if !slices.Contains([]string{"effectiveTime", "low", "high", "time"}, e.XMLName.Local) ||
					e.attribute("unit") != "" || value == "" {
					return
				}
				times++
				if day := value[:len("20060102")]; day > made || day < strings.ReplaceAll(p.Person.BirthDate, "-", "") {
					t.Errorf("%s, in a document of %s about %s", value, made, p.Person.Given)
				}
			})
			if times < 5 {
				t.Errorf("a document of %s about %s has %d times", made, p.Person.Given, times)
			}
		}
	})
}

func TestRetrieveReturnsListedDocuments(t *testing.T) {
	t.Parallel()
	n, who := instant(), vouched(t, "Sorrel")
	last, _ := located(t, t.Context(), n, who)
	list, err := n.Documents(t.Context(), who, last["4"])
	if err != nil || !slices.IsSortedFunc(list, func(a, b tefca.Document) int { return a.Made.Compare(b.Made) }) {
		t.Fatal(list, err)
	}
	for _, d := range list {
		content, err := n.Retrieve(t.Context(), who, last["4"], d, d.Size)
		if err != nil || int64(len(content)) != d.Size || d.Type != "text/xml" {
			t.Errorf("%+v: %d bytes, %v", d, len(content), err)
		}
		made := read(t, content).first("effectiveTime").attribute("value")
		if got := d.Made.Format("200601021504-0700"); got != made {
			t.Errorf("%s is listed as made at %s", made, got)
		}
		if _, err = n.Retrieve(t.Context(), who, last["4"], d, d.Size-1); !errors.Is(err, tefca.ErrTooLarge) {
			t.Errorf("a byte too much: %v", err)
		}
	}
	unknown := list[0]
	unknown.Locator = list[1].Locator
	if content, err := n.Retrieve(t.Context(), who, last["4"], unknown, limit); err != nil ||
		int64(len(content)) != list[1].Size {
		t.Errorf("the locator is what counts: %v", err)
	}
	if _, err := n.Retrieve(t.Context(), who, last["4"], tefca.Document{ID: list[0].ID}, limit); !errors.Is(err,
		tefca.ErrNotFound) {
		t.Errorf("without a locator: %v", err)
	}
}

// TestDocumentsOmitsSizeOfOversizedDocument checks that the list omits an excessive size, so that a reader detects it
// only while reading.
func TestDocumentsOmitsSizeOfOversizedDocument(t *testing.T) {
	t.Parallel()
	n, who := instant(), vouched(t, "Briar")
	last, _ := located(t, t.Context(), n, who)
	list, err := n.Documents(t.Context(), who, last["20"])
	if err != nil || len(list) != 4 || list[1].Size != 0 {
		t.Fatal(list, err)
	}
	if _, err = n.Retrieve(t.Context(), who, last["20"], list[1], 1<<40); !errors.Is(err, tefca.ErrTooLarge) {
		t.Error(err)
	}
	content, err := n.Retrieve(t.Context(), who, last["20"], list[2], limit)
	if err != nil || !errors.Is(new(ccda.Set).Add(content), ccda.ErrInvalid) {
		t.Errorf("what is no XML: %.20q, %v", content, err)
	}
}

// element is an XML element, read without the converter's code.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []*element `xml:",any"`
}

func read(t *testing.T, document []byte) *element {
	t.Helper()
	root := new(element)
	if err := xml.NewDecoder(bytes.NewReader(document)).Decode(root); err != nil {
		t.Fatal(err)
	}
	return root
}

func (e *element) walk(each func(*element)) {
	each(e)
	for _, child := range e.Children {
		child.walk(each)
	}
}

// first returns the first element with the given name, in document order.
func (e *element) first(name string) *element {
	var found *element
	e.walk(func(inner *element) {
		if found == nil && inner.XMLName.Local == name {
			found = inner
		}
	})
	return found
}

func (e *element) attribute(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// templates returns the entry templates that an element declares, without the OIDs' common prefix.
func (e *element) templates() []string {
	var all []string
	for _, child := range e.Children {
		if rest, ok := bytes.CutPrefix([]byte(child.attribute("root")), []byte("2.16.840.1.113883.10.20.22.")); ok &&
			child.XMLName.Local == "templateId" {
			all = append(all, string(rest))
		}
	}
	return all
}

func (e *element) id() string {
	for _, child := range e.Children {
		if child.XMLName.Local == "id" {
			return child.attribute("root") + "|" + child.attribute("extension")
		}
	}
	return ""
}
