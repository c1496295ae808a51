package contract_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/test/contract"
)

const thing = `
paths:
  /things/{id}:
    parameters: []
    get:
      responses:
        "200":
          headers:
            x-request-id: {required: true, schema: {type: string, minLength: 1}}
            x-left: {schema: {type: integer, minimum: 0}}
          content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}
        "302": {headers: {Location: {required: true, schema: {type: string}}},
          x-location-query: [{$ref: "#/components/schemas/Error"}, {$ref: "#/components/schemas/Done"}]}
        "405": {content: {text/html: {schema: {type: string}}}}
  /things/own:
    get: {responses: {"204": {}}}
  /files/{proxy}:
    get: {responses: {"200": {content: {"*/*": {schema: {type: string}}}}}}
  /sandbox/{rest}:
    get: {x-test-mode-only: true, responses: {"4XX": {}}}
components:
  schemas:
    Error: {type: object, required: [error], properties: {error: {type: string}}}
    Done: {type: object, required: [id], properties: {id: {type: string, format: uuid}}}
    Named: {properties: {name: {type: string, maxLength: 3}}}
    Thing:
      allOf: [{$ref: "#/components/schemas/Named"}]
      type: object
      required: [kind, parts]
      properties:
        kind: {type: string, enum: [a, b]}
        parts: {type: array, items: {type: object,
          properties: {size: {type: integer, minimum: 1}, note: {type: string}}}}
        counts: {type: object, additionalProperties: {type: integer}}
        free: {type: object}
        open: {type: object, properties: {x: {type: string}}, additionalProperties: true}
        place:
          oneOf:
            - {properties: {at: {enum: [home]}}}
            - {properties: {at: {enum: [away]}, far: {type: integer}}}
          discriminator: {propertyName: at}
`

func api(t *testing.T, text string) *contract.API {
	t.Helper()
	read, err := contract.ReadAPI([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func answer(status int, body string, header ...string) contract.Answer {
	h := http.Header{"X-Request-Id": {"1"}, "Content-Type": {"application/json"}}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return contract.Answer{Status: status, Header: h, Body: []byte(body)}
}

const whole = `{"kind":"a","name":"abc","parts":[{"size":1},{"note":"n"}],"counts":{"Patient":2},` +
	`"free":{"any":[1]},"open":{"x":"y","z":1}}`

// place returns the response with a member that has variants.
func place(value string) string { return strings.TrimSuffix(whole, "}") + `,"place":` + value + "}" }

func TestAPICheckRejectsResponseThatViolatesSchema(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, path string
		answer       contract.Answer
		want         string // substring of the expected error; empty if none is expected
	}{
		"as described":   {"GET", "/things/7", answer(200, whole), ""},
		"with a number":  {"GET", "/things/7", answer(200, whole, "X-Left", "3"), ""},
		"HEAD":           {"HEAD", "/things/7", answer(200, ""), ""},
		"OPTIONS":        {"OPTIONS", "/things/7", answer(204, "", "Allow", "GET"), ""},
		"the exact path": {"GET", "/things/own", answer(204, ""), ""},
		"a variant":      {"GET", "/things/7", answer(200, place(`{"at":"away","far":2}`)), ""},
		"no variant": {
			"GET", "/things/7", answer(200, place(`{"at":"here"}`)), "place: is map[at:here], which meets 0 of oneOf",
		},
		"two variants":    {"GET", "/things/7", answer(200, place(`{}`)), "which meets 2 of oneOf"},
		"somebody else's": {"GET", "/sandbox/a/b/c", answer(299, "x"), ""},
		"a greedy path":   {"GET", "/files/a/b.css", answer(200, "x", "Content-Type", "text/css"), ""},
		"a page":          {"PUT", "/things/7", answer(405, "<p>", "Content-Type", "text/html"), ""},
		"a redirect":      {"GET", "/things/7", answer(302, "", "Location", "https://a.example/?error=x"), ""},
		"the other": {
			"GET", "/things/7",
			answer(302, "", "Location", "https://a.example/?id=00000000-0000-4000-8000-000000000000"), "",
		},
		"an unknown path": {"GET", "/nothing", answer(404, `{"error":"x"}`), ""},
		"another name": {
			"GET", "/things/7", answer(200, strings.Replace(whole, "name", "nome", 1)),
			"nome is not declared",
		},
		"a name in a list": {
			"GET", "/things/7", answer(200, strings.Replace(whole, "note", "text", 1)),
			"parts[]: text is not declared",
		},
		"nothing required": {"GET", "/things/7", answer(200, `{"kind":"a"}`), "has no parts"},
		"another type": {
			"GET", "/things/7", answer(200, strings.Replace(whole, `:2`, `:"2"`, 1)),
			"counts.Patient: is 2, want type integer",
		},
		"another value": {
			"GET", "/things/7", answer(200, strings.Replace(whole, `"a"`, `"c"`, 1)),
			"kind: is c, want enum",
		},
		"too long": {
			"GET", "/things/7", answer(200, strings.Replace(whole, "abc", "abcd", 1)),
			"name: is abcd, want maxLength",
		},
		"too small": {
			"GET", "/things/7", answer(200, strings.Replace(whole, `:1}`, `:0}`, 1)),
			"parts[0].size: is 0, want minimum",
		},
		"no JSON":            {"GET", "/things/7", answer(200, "x"), "invalid character"},
		"another status":     {"GET", "/things/7", answer(201, whole), "the status 201 is not described"},
		"another media type": {"GET", "/things/7", answer(200, whole, "Content-Type", "text/html"), "the media type"},
		"no header": {
			"GET", "/things/7", answer(200, whole, "X-Request-Id", ""),
			"there is no header x-request-id",
		},
		"a header's type":      {"GET", "/things/7", answer(200, whole, "X-Left", "few"), "header x-left: is few"},
		"a body where none is": {"GET", "/things/own", answer(204, "x"), "there is a body"},
		"a query of none": {
			"GET", "/things/7", answer(302, "", "Location", "https://a.example/?error=x&more=y"),
			"more is not declared",
		},
		"a query twice": {
			"GET", "/things/7", answer(302, "", "Location", "https://a.example/?error=x&error=y"),
			"more than once",
		},
		"an undescribed path":   {"GET", "/nothing", answer(200, whole), "is not described"},
		"an undescribed method": {"PUT", "/things/7", answer(200, whole), "is not described"},
		"no Allow":              {"OPTIONS", "/things/7", answer(204, ""), "Allow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := api(t, thing).Check(c.method, c.path, c.answer)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestUnseenListsUncoveredResponses(t *testing.T) {
	t.Parallel()
	judge := api(t, thing)
	if err := judge.Check("GET", "/things/7", answer(200, whole)); err != nil {
		t.Fatal(err)
	}
	unseen := judge.Unseen()
	for place, want := range map[string]bool{
		"GET /things/{id} 200": false, "GET /things/{id} 200 kind": false, "GET /things/{id} 200 name": false,
		"GET /things/{id} 200 parts[].size": false, "GET /things/{id} 200 counts.*": false,
		"GET /things/{id} 200 header x-request-id": false,
		"GET /things/{id} 200 header x-left":       true, "GET /things/{id} 302": true,
		"GET /things/{id} 302 Location?error": true,
		"GET /things/{id} 405":                true, "GET /things/own 204": true,
	} {
		if slices.Contains(unseen, place) != want {
			t.Errorf("%s is unseen: %t, in %q", place, !want, unseen)
		}
	}
	if err := judge.Check("GET", "/things/8", answer(200, `{"kind":"a"}`, "X-Left", "1")); err == nil ||
		!slices.Contains(judge.Unseen(), "GET /things/{id} 200 header x-left") {
		t.Error("what was seen in a wrong answer counts")
	}
}

func TestReadAPIRejectsUnsupportedDocument(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"a keyword":   {"maxLength: 3", "maxLongness: 3"},
		"a format":    {"format: uuid", "format: color"},
		"a reference": {"schemas/Named", "schemas/Gone"},
		"company":     {`{$ref: "#/components/schemas/Named"}`, `{$ref: "#/components/schemas/Named", type: object}`},
		"a pattern":   {"maxLength: 3", `pattern: "("`},
		"YAML":        {"paths:", "paths: ["},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := contract.ReadAPI([]byte(strings.Replace(thing, change[0], change[1], 1))); err == nil {
				t.Error("it is believed")
			}
		})
	}
}
