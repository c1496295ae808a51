package views_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"recordbridge/infra/recordbridge/views"
)

const patient = `{
	"resourceType": "Patient", "id": "p1", "gender": "female", "birthDate": "1980-05-17", "active": true,
	"name": [{"family": "Ferris", "given": ["Ada", "Bea"]}, {"family": "Gray", "given": ["Cleo"]}],
	"telecom": [{"system": "phone", "value": "555-0100"}, {"system": "email", "value": "ada@example.com"}],
	"contact": [{"name": {"family": "Hill"}, "telecom": [{"value": "555-0101"}]}]
}`

// view parses a view of patients from its select.
func view(t *testing.T, selects string) (*views.View, error) {
	t.Helper()
	return views.Parse([]byte(`{"name": "v", "resource": "Patient", "select": [` + selects + `]}`))
}

// rows returns the view's rows of a resource as text: cells in a row are separated by |, and NULL is -.
func rows(t *testing.T, v *views.View, resource string) (string, error) {
	t.Helper()
	var object map[string]any
	decoder := json.NewDecoder(strings.NewReader(resource))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		t.Fatal(err)
	}
	found, err := v.Rows(object)
	lines := make([]string, 0, len(found))
	for _, row := range found {
		cells := make([]string, 0, len(row))
		for _, cell := range row {
			if cell == nil {
				cell = "-"
			}
			cells = append(cells, fmt.Sprint(cell))
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	return strings.Join(lines, "\n"), err
}

func TestRowsFollowSelects(t *testing.T) {
	t.Parallel()
	id := `{"column": [{"name": "id", "path": "id"}]}`
	for name, test := range map[string]struct{ selects, want string }{
		"columns":     {id + `, {"column": [{"name": "sex", "path": "gender"}]}`, "p1|female"},
		"forEach":     {id + `, {"forEach": "name", "column": [{"name": "f", "path": "family"}]}`, "p1|Ferris\np1|Gray"},
		"no elements": {id + `, {"forEach": "photo", "column": [{"name": "f", "path": "url"}]}`, ""},
		"forEachOrNull": {
			id + `, {"forEachOrNull": "name", "column": [{"name": "f", "path": "family"}]}`, "p1|Ferris\np1|Gray",
		},
		"forEachOrNull without elements": {
			id + `, {"forEachOrNull": "photo", "column": [{"name": "i", "path": "%rowIndex", "type": "integer"},
				{"name": "f", "path": "url"}], "select": [{"column": [{"name": "g", "path": "url"}]}],
				"unionAll": [{"column": [{"name": "h", "path": "url"}]}]}`, "p1|0|-|-|-",
		},
		"nested": {
			`{"forEach": "name", "column": [{"name": "f", "path": "family"}, {"name": "i", "path": "%rowIndex"}],
				"select": [{"forEach": "given", "column": [{"name": "g", "path": "$this"}, {"name": "j", "path": "%rowIndex"}]}]}`,
			"Ferris|0|Ada|0\nFerris|0|Bea|1\nGray|1|Cleo|0",
		},
		"siblings": {
			`{"forEach": "name", "column": [{"name": "f", "path": "family"}]},
				{"forEach": "telecom", "column": [{"name": "s", "path": "system"}]}`,
			"Ferris|phone\nFerris|email\nGray|phone\nGray|email",
		},
		"unionAll": {
			id + `, {"unionAll": [
				{"forEach": "telecom", "column": [{"name": "v", "path": "value"}, {"name": "own", "path": "true"}]},
				{"forEach": "contact.telecom", "column": [{"name": "v", "path": "value"}, {"name": "own", "path": "false"}]}]}`,
			"p1|555-0100|true\np1|ada@example.com|true\np1|555-0101|false",
		},
		"unionAll keeps the index of the outer forEach": {
			`{"forEach": "name", "unionAll": [{"column": [{"name": "i", "path": "%rowIndex"}]},
				{"forEach": "given", "column": [{"name": "i", "path": "%rowIndex"}]}]}`, "0\n0\n1\n1\n0",
		},
		"column order": {
			`{"column": [{"name": "a", "path": "'a'"}], "unionAll": [{"column": [{"name": "c", "path": "'c'"}]}],
				"select": [{"column": [{"name": "b", "path": "'b'"}]}]}, {"column": [{"name": "d", "path": "'d'"}]}`, "a|b|c|d",
		},
		"collection": {`{"column": [{"name": "g", "path": "name.given", "collection": true, "type": "string"},
			{"name": "p", "path": "photo.url", "collection": true}]}`, `["Ada","Bea","Cleo"]|[]`},
	} {
		v, err := view(t, test.selects)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := rows(t, v, patient); got != test.want || err != nil {
			t.Errorf("%s:\n%s, %v\nwant\n%s", name, got, err, test.want)
		}
	}
}

func TestRowsApplyWhereAndConstants(t *testing.T) {
	t.Parallel()
	v, err := views.Parse([]byte(`{"resourceType": "ViewDefinition", "name": "v", "resource": "Patient", "status": "draft",
		"constant": [{"name": "sex", "valueCode": "female"}, {"name": "born", "valueDate": "1980-01-01"}],
		"where": [{"path": "gender = %sex"}, {"path": "birthDate > %born", "description": "adults"}],
		"select": [{"column": [{"name": "id", "path": "id"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for resource, want := range map[string]string{
		patient: "p1",
		strings.Replace(patient, "female", "male", 1): "",
		strings.Replace(patient, "1980", "1979", 1):   "",
		`{"resourceType": "Patient", "id": "p2"}`:     "",
		`{"resourceType": "Observation", "id": "o1"}`: "",
	} {
		if got, err := rows(t, v, resource); got != want || err != nil {
			t.Errorf("rows of %.60s: %q, %v; want %q", resource, got, err, want)
		}
	}
}

func TestRepeatDescendsIntoEveryLevel(t *testing.T) {
	t.Parallel()
	v, err := views.Parse([]byte(`{"name": "v", "resource": "QuestionnaireResponse", "select": [
		{"repeat": ["item", "answer.item"],
			"column": [{"name": "i", "path": "%rowIndex"}, {"name": "l", "path": "linkId"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := rows(t, v, `{"resourceType": "QuestionnaireResponse", "item": [
		{"linkId": "1", "item": [{"linkId": "1.1", "answer": [{"item": [{"linkId": "1.1.1"}]}]}]}, {"linkId": "2"}]}`)
	if want := "0|1\n1|1.1\n2|1.1.1\n3|2"; got != want || err != nil {
		t.Errorf("rows:\n%s, %v\nwant\n%s", got, err, want)
	}
}

func TestColumnConvertsToItsType(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ column, want string }{
		{`"path": "birthDate", "type": "date"`, "1980-05-17 string"},
		{
			`"path": "birthDate", "type": "date", "tag": [{"name": "ansi/type", "value": "DATE"}]`,
			"1980-05-17 00:00:00 +0000 UTC time.Time",
		},
		{`"path": "active", "type": "boolean"`, "true bool"},
		{`"path": "active"`, "true string"},
		{`"path": "1.50", "type": "decimal"`, "1.50 string"},
		{`"path": "1.50", "tag": [{"name": "ansi/type", "value": "double precision"}]`, "1.5 float64"},
		{`"path": "2", "type": "positiveInt"`, "2 int32"},
		{`"path": "'2'", "type": "integer64"`, "2 int64"},
		{`"path": "'2024-02-03T04:05:06.7Z'", "type": "instant"`, "2024-02-03 04:05:06.7 +0000 UTC time.Time"},
		{`"path": "id", "type": "http://hl7.org/fhir/StructureDefinition/id"`, "p1 string"},
	} {
		v, err := view(t, `{"column": [{"name": "c", `+test.column+`}]}`)
		if err != nil {
			t.Errorf("%s: %v", test.column, err)
			continue
		}
		found, err := v.Rows(map[string]any{
			"resourceType": "Patient", "id": "p1", "active": true, "birthDate": "1980-05-17",
		})
		if err != nil || fmt.Sprintf("%v %[1]T", found[0][0]) != test.want {
			t.Errorf("%s: %v, %v; want %s", test.column, found, err, test.want)
		}
	}
}

func TestRowsReturnErrorWithoutValues(t *testing.T) {
	t.Parallel()
	for column, part := range map[string]string{
		`"path": "name.given"`:                    "column c: several values",
		`"path": "name[0]"`:                       "column c: the value is a complex element",
		`"path": "gender", "type": "boolean"`:     "isn't of type BOOLEAN",
		`"path": "gender", "type": "integer"`:     "isn't of type INTEGER",
		`"path": "'5'", "type": "integer"`:        "isn't of type INTEGER",
		`"path": "5000000000", "type": "integer"`: "isn't of type INTEGER",
		`"path": "active", "type": "string"`:      "isn't of type VARCHAR",
		`"path": "gender", "type": "instant"`:     "isn't of type TIMESTAMP",
		`"path": "name", "collection": true`:      "complex element",
		`"path": "name.where(family).given"`:      "isn't a boolean",
	} {
		v, err := view(t, `{"column": [{"name": "c", `+column+`}]}`)
		if err != nil {
			t.Errorf("%s: %v", column, err)
			continue
		}
		_, err = rows(t, v, patient)
		if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "female") {
			t.Errorf("%s: %v, want an error with %q", column, err, part)
		}
	}
}

func TestParseRejectsInvalidView(t *testing.T) {
	t.Parallel()
	column := `{"column": [{"name": "a", "path": "id"}]}`
	constant := `{"name": "c", "valueId": "1"}`
	head := `"name": "v", "resource": "Patient", `
	for _, test := range []struct{ definition, part string }{
		{`[]`, "isn't a valid ViewDefinition"},
		{`{"resourceType": "Patient"}`, "type Patient"},
		{`{"name": "a b", "resource": "Patient", "select": [` + column + `]}`, "must consist of letters"},
		{`{"name": "../v", "resource": "Patient", "select": [` + column + `]}`, "must consist of letters"},
		{`{"name": "v", "select": [` + column + `]}`, "isn't a type of FHIR resources"},
		{`{` + head + `"select": []}`, "no select"},
		{`{` + head + `"selct": []}`, `unknown field "selct"`},
		{`{` + head + `"modifierExtension": [], "select": [` + column + `]}`, `unknown field "modifierExtension"`},
		{`{` + head + `"select": [{"foreach": "name"}]}`, "no columns"},
		{`{` + head + `"select": [{"forEach": 1}]}`, "isn't a valid ViewDefinition"},
		{`{` + head + `"select": [{"forEach": "@@", "column": []}]}`, "forEach"},
		{`{` + head + `"select": [{"repeat": ["|"], "column": []}]}`, "repeat"},
		{`{` + head + `"select": [{"forEach": "a", "repeat": ["b"], "column": []}]}`, "more than one of"},
		{`{` + head + `"select": [{"column": [{"name": "1a", "path": "id"}]}]}`, "must consist of letters"},
		{`{` + head + `"select": [{"column": [{"name": "a", "path": "id.count()"}]}]}`, "column a: at 4"},
		{`{` + head + `"select": [{"column": [{"name": "a", "path": "code", "type": "Coding"}]}]}`, "primitive"},
		{
			`{` + head + `"select": [{"column": [{"name": "a", "path": "id", "tag": [{"name": "ansi/type", "value": "X"}]}]}]}`,
			"ansi/type X",
		},
		{`{` + head + `"select": [` + column + `, {"column": [{"name": "A", "path": "id"}]}]}`, "two columns A"},
		{
			`{` + head + `"select": [{"unionAll": [` + column + `, {"column": [{"name": "b", "path": "id"}]}]}]}`,
			"unionAll[1]",
		},
		{`{` + head + `"where": [{"path": "a ~ b"}], "select": [` + column + `]}`, "where[0]"},
		{`{` + head + `"constant": [{"name": "c"}], "select": [` + column + `]}`, "constant[0]"},
		{`{` + head + `"constant": [{"name": "c", "valueCode": 1}], "select": [` + column + `]}`, "type code"},
		{`{` + head + `"constant": [{"name": "c", "valueQuantity": {}}], "select": [` + column + `]}`, "valueQuantity"},
		{
			`{` + head + `"constant": [` + constant + `, ` + constant + `], "select": [` + column + `]}`,
			"already has",
		},
	} {
		_, err := views.Parse([]byte(test.definition))
		if err == nil || !strings.Contains(err.Error(), test.part) {
			t.Errorf("Parse(%s) = %v; want an error with %q", test.definition, err, test.part)
		}
	}
}
