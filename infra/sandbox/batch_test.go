package sandbox_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

type batchAnswer struct {
	Type  string
	Entry []struct {
		Response struct{ Status string }
		Resource struct {
			ResourceType string
			Total        int
		}
	}
}

func (p *portal) askBatch(access string, searches ...string) (answer, batchAnswer) {
	p.t.Helper()
	entries := make([]map[string]any, 0, len(searches))
	for _, one := range searches {
		entries = append(entries, map[string]any{"request": map[string]string{"method": "GET", "url": one}})
	}
	body, err := json.Marshal(map[string]any{"resourceType": "Bundle", "type": "batch", "entry": entries})
	if err != nil {
		p.t.Fatal(err)
	}
	request := p.request(http.MethodPost, p.fhir, bytes.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+access)
	request.Header.Set("Content-Type", "application/fhir+json")
	got := p.do(request)
	var read batchAnswer
	if got.status == http.StatusOK {
		if err := json.Unmarshal(got.body, &read); err != nil {
			p.t.Fatal(err)
		}
	}

	return got, read
}

func TestBatchResponsesMatchSeparateSearches(t *testing.T) {
	t.Parallel()
	p := newPortal(t).with(t, "all-types,batch:whole")
	access := p.connect("alder-maple").Access
	_, got := p.askBatch(access, "Condition?patient=patient-alder-maple", "Flag?patient=patient-alder-maple",
		"Flag?patient=somebody-else", "Nothing?patient=x")
	if got.Type != "batch-response" || len(got.Entry) != 4 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []string{"200 Bundle", "200 Bundle", "403 OperationOutcome", "404 OperationOutcome"} {
		status, kind, _ := strings.Cut(want, " ")
		if one := got.Entry[i]; !strings.HasPrefix(one.Response.Status, status) || one.Resource.ResourceType != kind {
			t.Errorf("entry %d: %+v, want %s", i, one, want)
		}
	}
	if got.Entry[0].Resource.Total == 0 || got.Entry[1].Resource.Total != 0 {
		t.Errorf("found %d and %d, want some and none", got.Entry[0].Resource.Total, got.Entry[1].Resource.Total)
	}
}

func TestBatchSwitchesRejectOrTruncateBatches(t *testing.T) {
	t.Parallel()
	search := "Condition?patient=patient-alder-maple"
	refusing := newPortal(t).with(t, "batch:refused")
	if got, _ := refusing.askBatch(refusing.connect("alder-maple").Access, search); got.status != http.StatusForbidden {
		t.Errorf("status %d, want 403", got.status)
	}
	empty := newPortal(t).with(t, "batch:empty")
	if _, got := empty.askBatch(empty.connect("alder-maple").Access, search); len(got.Entry) != 1 ||
		got.Entry[0].Resource.Total != 0 {
		t.Errorf("%+v, want an empty Bundle", got)
	}
	half := newPortal(t).with(t, "batch:half")
	_, got := half.askBatch(half.connect("alder-maple").Access, search, search)
	if len(got.Entry) != 2 || got.Entry[0].Response.Status != "200 OK" ||
		!strings.HasPrefix(got.Entry[1].Response.Status, "500") {
		t.Errorf("%+v, want the second to fail", got)
	}
	plain := newPortal(t)
	if got, _ := plain.askBatch("no token", search); got.status != http.StatusMethodNotAllowed {
		t.Error("a batch is taken without the switch")
	}
}

func TestAllTypesSwitchListsAllTypesInCapabilityStatement(t *testing.T) {
	t.Parallel()
	p := newPortal(t).with(t, "all-types")
	for _, one := range []string{"VisionPrescription", "Flag", "Condition"} {
		if !bytes.Contains(p.get(p.fhir+"/metadata").body, []byte(`"type":"`+one+`"`)) {
			t.Errorf("%s is not listed", one)
		}
	}
}

func TestUnlistedSwitchOmitsTypesFromCapabilityStatement(t *testing.T) {
	t.Parallel()
	p := newPortal(t).with(t, "unlisted:Condition+Claim")
	if statement := p.get(p.fhir + "/metadata").body; bytes.Contains(statement, []byte(`"type":"Condition"`)) ||
		!bytes.Contains(statement, []byte(`"type":"Encounter"`)) {
		t.Error("the statement lists Condition, or omits Encounter")
	}
	if page := p.searchset(p.read(p.connect("alder-maple").Access,
		"Condition?patient=patient-alder-maple")); len(page.Entry) == 0 {
		t.Error("what is not listed is not found")
	}
}

func TestUnlistedIncludesSwitchOmitsIncludesFromCapabilityStatement(t *testing.T) {
	t.Parallel()
	p := newPortal(t).with(t, "unlisted-includes")
	if statement := p.get(p.fhir + "/metadata").body; bytes.Contains(statement, []byte(`Include"`)) {
		t.Error("the statement lists an include")
	}
	page := p.searchset(p.read(p.connect("alder-maple").Access,
		"Patient?_id=patient-alder-maple&_revinclude=Provenance:target"))
	if len(page.Entry) < 2 {
		t.Errorf("%d entries, want the Patient and its Provenance", len(page.Entry))
	}
}
