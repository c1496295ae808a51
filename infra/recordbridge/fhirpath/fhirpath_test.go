package fhirpath_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"recordbridge/infra/recordbridge/fhirpath"
)

const patient = `{
	"resourceType": "Patient", "id": "p1", "active": true, "birthDate": "1980-05",
	"_birthDate": {"extension": [{"url": "http://example.com/source", "valueString": "passport"}]},
	"name": [
		{"use": "official", "family": "Ferris", "given": ["Ada", "Bea"]},
		{"use": "usual", "given": [null, "Cleo"], "_given": [{"extension": [{"url": "x", "valueCode": "masked"}]}, null]}
	],
	"multipleBirthInteger": 2,
	"managingOrganization": {"reference": "Organization/o1"},
	"generalPractitioner": [
		{"reference": "https://fhir.example.com/r4/Practitioner/d1/_history/3"}, {"reference": "#contained"},
		{"reference": "urn:uuid:0c3f", "type": "Practitioner"},
		{"reference": "https://fhir.example.com/Practitioner?identifier=1"}
	],
	"contained": [{"resourceType": "Organization", "id": "c"}, {"resourceType": "Practitioner", "id": "d"}],
	"communication": [{"preferred": true}, {"preferred": false}],
	"telecom": [{"rank": 1, "value": "a"}, {"rank": 2, "value": "b"}]
}`

// evaluate returns the values of an expression over the patient as JSON.
func evaluate(t *testing.T, expression string, constants map[string]fhirpath.Node) (string, error) {
	t.Helper()
	parsed, err := fhirpath.Parse(expression, constants)
	if err != nil {
		return "", err
	}
	var object map[string]any
	decoder := json.NewDecoder(strings.NewReader(patient))
	decoder.UseNumber()
	if err = decoder.Decode(&object); err != nil {
		t.Fatal(err)
	}
	steps := 1000
	resource := fhirpath.Resource(object)
	nodes, err := parsed.Evaluate(fhirpath.Scope{Resource: resource, RowIndex: 7, Steps: &steps}, resource)
	if err != nil {
		return "", err
	}
	values := []any{}
	for _, node := range nodes {
		values = append(values, node.Value)
	}
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

func TestExpressionReturnsElements(t *testing.T) {
	t.Parallel()
	constants := map[string]fhirpath.Node{
		"use":    fhirpath.Literal("official", "code"),
		"cutoff": fhirpath.Literal("1990-01-01", "date"),
		"may":    fhirpath.Literal("1980-05-03", "date"),
		"utc":    fhirpath.Literal("2024-01-01T00:30:00Z", "instant"),
		"zone":   fhirpath.Literal("2024-01-01T01:30:00.000+01:00", "instant"),
		"noon":   fhirpath.Literal("12:00:00", "time"),
	}
	for expression, want := range map[string]string{
		// paths
		"id":                                    `["p1"]`,
		"Patient.id":                            `["p1"]`,
		"Observation.id":                        `[]`,
		"name.given":                            `["Ada","Bea",null,"Cleo"]`,
		"name[0].given[1]":                      `["Bea"]`,
		"name[5]":                               `[]`,
		"name[0 - 1]":                           `[]`,
		"name.`family`":                         `["Ferris"]`,
		"$this.id":                              `["p1"]`,
		"%resource.id":                          `["p1"]`,
		"name.where(%context.id = 'p1')[0].use": `["official"]`,
		"%rowIndex":                             `[7]`,
		"missing.also.missing":                  `[]`,
		// literals
		`'it\'s \u0041\n'`: `["it's A\n"]`,
		"12":               `[12]`,
		"1.50":             `[1.50]`,
		"true":             `[true]`,
		// choice elements and types
		"multipleBirth":                                                         `[2]`,
		"multipleBirth.ofType(integer)":                                         `[2]`,
		"multipleBirth.ofType(FHIR.integer)":                                    `[2]`,
		"multipleBirth.ofType(Integer)":                                         `[2]`,
		"multipleBirth.ofType(boolean)":                                         `[]`,
		"contained.ofType(Practitioner).id":                                     `["d"]`,
		"extension('u').value.ofType(Coding)":                                   `[]`,
		"birthDate.extension('http://example.com/source').value.ofType(string)": `["passport"]`,
		"name[1].given.extension('x').value":                                    `["masked"]`,
		// functions
		"name.where(use = %use).family":                     `["Ferris"]`,
		"name.exists()":                                     `[true]`,
		"name.exists(use = 'old')":                          `[false]`,
		"link.empty()":                                      `[true]`,
		"active.not()":                                      `[false]`,
		"link.not()":                                        `[]`,
		"name.given.first()":                                `["Ada"]`,
		"name.given.join(', ')":                             `["Ada, Bea, Cleo"]`,
		"name.given.join()":                                 `["AdaBeaCleo"]`,
		"link.type.join()":                                  `[]`,
		"getResourceKey()":                                  `["p1"]`,
		"managingOrganization.getReferenceKey()":            `["o1"]`,
		"generalPractitioner.getReferenceKey()":             `["d1","0c3f"]`,
		"managingOrganization.getReferenceKey(Patient)":     `[]`,
		"generalPractitioner.getReferenceKey(Practitioner)": `["d1","0c3f"]`,
		// logic
		"true and missing":        `[]`,
		"false and missing":       `[false]`,
		"true or missing":         `[true]`,
		"false or missing":        `[]`,
		"missing or true":         `[true]`,
		"true or false and false": `[true]`,
		// equality
		"missing = 1":           `[]`,
		"1 = 1.0":               `[true]`,
		"'1' = 1":               `[false]`,
		"name.use = 'official'": `[false]`,
		"name.use != name.use":  `[false]`,
		"name[0] = name[0]":     `[true]`,
		"%utc = %zone":          `[true]`,
		"%utc != %cutoff":       `[true]`,
		"birthDate = %may":      `[]`,
		// order
		"multipleBirth > 1":             `[true]`,
		"1 >= 1 and 1 <= 1":             `[true]`,
		"1 < 0.5":                       `[false]`,
		"'a' < 'b'":                     `[true]`,
		"birthDate < %cutoff":           `[true]`,
		"birthDate < %may":              `[]`,
		"%noon > '11:59'":               `[true]`,
		"telecom.where(rank > 1).value": `["b"]`,
		// arithmetic
		"1 + 2 * 3":      `[7]`,
		"(1 + 2) * 3":    `[9]`,
		"7 / 2":          `[3.5]`,
		"1 / 3":          `[0.33333333]`,
		"1 / 0":          `[]`,
		"0.1 + 0.2 - -1": `[1.3]`,
		"'a' + 'b'":      `["ab"]`,
		"missing + 1":    `[]`,
	} {
		got, err := evaluate(t, expression, constants)
		if err != nil || got != want {
			t.Errorf("%s = %s, %v; want %s", expression, got, err, want)
		}
	}
}

func TestParseRejectsExpressionOutsideSubset(t *testing.T) {
	t.Parallel()
	for expression, part := range map[string]string{
		"":                        "unexpected the end",
		"name.":                   "a name must follow",
		"name name":               "unexpected name",
		"(id":                     `expected ")"`,
		"'open":                   "isn't closed",
		`'\q'`:                    "unknown escape",
		"@2020":                   "use a constant",
		"@@":                      "use a constant",
		"id ? 1":                  "unexpected character",
		"name | contact.name":     "the operator |",
		"value is Quantity":       "the operator is",
		"value as Quantity":       "the operator as",
		"1 div 2":                 "the operator div",
		"true implies false":      "the operator implies",
		"name.count()":            "the function count",
		"birthDate.lowBoundary()": "the function lowBoundary",
		"name.select(given)":      "the function select",
		"5 'mg'":                  "quantities",
		"$index":                  "$index",
		"%nothing":                "no constant nothing",
		"name.where()":            "0 arguments",
		"name.first(1)":           "1 arguments",
		"value.ofType()":          "the name of a type",
		"value.ofType('x')":       "the name of a type",
		"value.ofType(Qantity)":   "no type Qantity",
		"value.ofType(42)":        "the name of a type",
		strings.Repeat("1", 65):   "more than 64 characters",
		strings.Repeat("(", 2000) + strings.Repeat(")", 2000): "nested too deeply",
		"1" + strings.Repeat("+1", 1000):                      "nested too deeply",
		strings.Repeat("a.", 3000) + "a":                      "more than 4096 bytes",
	} {
		if _, err := fhirpath.Parse(expression, nil); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("Parse(%.40q) = %v; want an error with %q", expression, err, part)
		}
	}
}

func TestEvaluateReturnsErrorWithoutValues(t *testing.T) {
	t.Parallel()
	for expression, part := range map[string]string{
		"name.where(family)":                           "isn't a boolean",
		"name.where(%context.communication.preferred)": "isn't a boolean",
		"name.family and true":                         "isn't a boolean",
		"name.given > 'A'":                             "not a collection",
		"name.family > 1":                              "different types",
		"active > false":                               "no order",
		"name.family + 1":                              "two strings",
		"name.family * 2":                              "two numbers",
		"name[name.family]":                            "isn't an integer",
		"name.family.ofType(string)":                   "only choice elements",
		"telecom.rank.join()":                          "needs strings",
		"extension(1)":                                 "isn't a string",
		"name.getResourceKey()":                        "needs a resource",
		"name.family.getReferenceKey()":                "needs a reference",
	} {
		_, err := evaluate(t, expression, nil)
		if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "Ferris") {
			t.Errorf("%s: %v; want an error with %q", expression, err, part)
		}
	}
}

func TestEvaluateStopsWhenStepsAreSpent(t *testing.T) {
	t.Parallel()
	expression := "name" + strings.Repeat(".where(%resource.name.given.exists())", 20)
	if _, err := evaluate(t, expression+".use", nil); err != nil {
		t.Fatalf("a moderate expression: %v", err)
	}
	nested := strings.Repeat("name.given.exists(%resource.", 5) + "name.exists()" + strings.Repeat(")", 5)
	if _, err := evaluate(t, nested, nil); !errors.Is(err, fhirpath.ErrSteps) {
		t.Errorf("a nested search returned %v, want ErrSteps", err)
	}
}

func TestEvaluateCountsMembersOfLargeElement(t *testing.T) {
	t.Parallel()
	object := map[string]any{}
	for i := range 64_000 {
		object["member"+strconv.Itoa(i)] = true
	}
	expression, err := fhirpath.Parse("missing", nil)
	if err != nil {
		t.Fatal(err)
	}
	steps := 1000
	resource := fhirpath.Resource(object)
	scope := fhirpath.Scope{Resource: resource, RowIndex: 0, Steps: &steps}
	if _, err = expression.Evaluate(scope, resource); !errors.Is(err, fhirpath.ErrSteps) {
		t.Errorf("a search among 64,000 members returned %v, want ErrSteps", err)
	}
}

func TestArithmeticRejectsHugeNumbers(t *testing.T) {
	t.Parallel()
	huge := map[string]fhirpath.Node{"n": fhirpath.Literal(json.Number("1e999999999"), "decimal")}
	if _, err := evaluate(t, "%n + 1", huge); err == nil || !strings.Contains(err.Error(), "exponent") {
		t.Errorf("%%n + 1 returned %v, want an error about the exponent", err)
	}
}
