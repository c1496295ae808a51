package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

func TestRecordsCheckFindsUndocumentedMembers(t *testing.T) {
	t.Parallel()
	got := policy.Records([]byte(`
export interface Line {
  line_id: string;
  guessed?: number; // by nobody
}

export interface Whole extends Line {
  parts: { at: string }[];
}

export interface Part {
  at: string;
  by: string;
}

export interface InBoth {
  at: string;
  until: string;
}

export interface Nowhere {
  at: string;
  lost: string;
}
`), []byte(`
paths:
  /x:
    get:
      responses:
        "200": {content: {application/json: {schema: {type: object,
          properties: {at: {type: string}, by: {type: string}}}}}}
components:
  schemas:
    Line: {type: object, properties: {line_id: {type: string}}}
    Guess: {type: object, properties: {guessed: {type: number}}}
    Whole:
      allOf: [{$ref: "#/components/schemas/Line"}, {$ref: "#/components/schemas/Guess"},
        {type: object, properties: {parts: {type: array, items: {$ref: "#/components/schemas/From"}}}},
        {type: object, properties: {parts: {type: array, items: {type: object, properties: {until: {type: string}}}}}}]
    From: {type: object, properties: {at: {type: string}}}
`))
	finds(t, got,
		`shared/ui/dashboard/api/records.ts: Line has ["guessed"], which the API does not answer`,
		`shared/ui/dashboard/api/records.ts: Nowhere has ["lost"], which the API does not answer`,
	)
}
