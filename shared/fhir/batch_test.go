package fhir_test

import (
	"errors"
	"testing"

	"recordbridge/shared/fhir"
)

func TestParseBatchReturnsPagesInSearchOrder(t *testing.T) {
	t.Parallel()
	got, err := fhir.ParseBatch([]byte(`{ "resourceType": "Bundle", "type": "batch-response", "entry": [
	  {"response": {"status": "200 OK"}, "resource": {"resourceType": "Bundle", "type": "searchset",
	   "link": [{"relation": "next", "url": "https://ehr.example/2"}],
	    "entry": [{"resource": {"resourceType": "Flag", "id": "f1"}}]}},
	  {"resource": {"resourceType": "OperationOutcome"}, "response": {"status": "404"}},
	  {"response": {"status": "200"}, "resource": {"resourceType": "Flag", "id": "no-page"}},
	  {"response": {"status": "200"}},
	  {"response": {}, "resource": {"resourceType": "Bundle"}},
	  {"response": {"status": "200 OK"}, "resource": {"resourceType": "Bundle", "type": "searchset", "total": 0}}]}`))
	if err != nil || len(got) != 6 {
		t.Fatalf("%d pages, %v", len(got), err)
	}
	for i, want := range []bool{true, false, false, false, false, true} {
		if got[i].IsThere != want {
			t.Errorf("page %d: there %v, want %v", i, got[i].IsThere, want)
		}
	}
	if got[0].Next != "https://ehr.example/2" || got[0].Len != 1 || got[5].Len != 0 {
		t.Errorf("%+v, %+v", got[0], got[5])
	}
	for one := range got[0].All() {
		if one.Type != "Flag" || one.ID != "f1" {
			t.Errorf("%+v", one)
		}
	}
}

func TestParseBatchRejectsInvalidDocuments(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		``, `[]`, `{"resourceType":"Bundle","type":"searchset"}`,
		`{"resourceType":"OperationOutcome","type":"batch-response"}`, `{"resourceType":"Bundle","type":"batch-response"`,
	} {
		if _, err := fhir.ParseBatch([]byte(raw)); !errors.Is(err, fhir.ErrInvalid) {
			t.Errorf("%q: %v, want ErrInvalid", raw, err)
		}
	}
}
