package e2e_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/test/ihe"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
	"recordbridge/shared/tefca/sim"
)

// TestLiveExportSkipsAndReportsInvalidEntries uses a gateway that formats IDs unusually and lists three invalid
// documents: one of another patient, one of another community, and one with two IDs. The export may skip only the
// invalid documents, and the outcome must state their number.
func TestLiveExportSkipsAndReportsInvalidEntries(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	alder := sim.Fixtures()["alder.xml"]
	l.documents = []ihe.Document{
		{ID: "2.999.7.1", Repository: "2.999.8", Content: alder},
		{ID: "2.999.7.2", Repository: "2.999.8", Content: alder, Spelt: "urn:oid:2.999.7.2"},
		{
			ID: "6f9619ff-8b86-4d01-b42d-00c04fc96403", Repository: "2.999.8", Content: alder,
			Spelt: "URN:UUID:6F9619FF-8B86-4D01-B42D-00C04FC96403",
		},
		{ID: "2.999.7.4", Repository: "2.999.8", Content: alder, Home: "2.999.20"},
		{ID: "2.999.7.5", Repository: "2.999.8", Content: alder, Home: "urn:oid:2.999.20.40"},
		{ID: "2.999.7.6", Unplaced: true, Content: alder},
		{ID: "2.999.7.7", Repository: "2.999.8", Content: alder, Patient: "1^^^Example Hospital&2.999.20&ISO^PI"},
		{ID: "2.999.7.11", Repository: "2.999.8", Content: alder, Patient: "SENTINEL^^^&2.999.20&ISO"},
		{ID: "2.999.7.12", Repository: "2.999.8", Content: alder, Home: "urn:oid:2.999.666"},
		{ID: "2.999.7.13", Repository: "2.999.8", Content: alder, ID2: "2.999.7.14"},
	}
	l.configure()
	v := l.begin()
	if page := l.vault.identify(v, "p06", "approve"); page.status != http.StatusOK {
		t.Fatalf("the window ended with %d %s", page.status, page.body)
	}
	l.queues.pump()
	if got := l.vault.choose(v, withDocuments); got.status != http.StatusOK {
		t.Fatalf("choosing answered %d %s", got.status, got.raw)
	}
	l.queues.pump()
	connected := l.vault.located(v).connections()
	if len(connected) != 1 || l.gateway.Seen(ihe.Retrieve) != 7 {
		t.Fatalf(
			"connected are %+v; %d documents were retrieved",
			l.vault.located(v).Facilities,
			l.gateway.Seen(ihe.Retrieve),
		)
	}
	told := l.outcomeOf(connected[withDocuments])
	at := slices.IndexFunc(told.Outcome, func(o export.TypeOutcome) bool { return o.Type == "DocumentReference" })
	if at < 0 || told.Outcome[at].Missing != 3 || told.Outcome[at].Reason != export.LossOther {
		t.Errorf("the outcome is %+v", told.Outcome)
	}
	if told.Complete == nil || *told.Complete ||
		!maps.Equal(told.Missing, map[string]string{"DocumentReference": "other_person"}) {
		t.Errorf("missing is %v", told.Missing)
	}
	lines := l.logs.String()
	for _, want := range []string{
		`"directory_id":"` + withDocuments + `","class":"content","documents":1,"field":"homeCommunityId"`,
		`"class":"content","documents":1,"field":"uniqueId"`,
		`"directory_id":"` + withDocuments + `","class":"other_person","documents":1`,
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("no line has %s", want)
		}
	}
	for _, never := range []string{"SENTINEL", "2.999.7.", "2.999.666", "6f9619ff"} {
		if strings.Contains(lines, never) {
			t.Errorf("a line holds %q", never)
		}
	}
}

// outcome is the part of an export's status that states whether the files are complete.
type outcome struct {
	TaskID   string               `json:"task_id"`
	Outcome  []export.TypeOutcome `json:"outcome"`
	Complete *bool                `json:"complete"`
	Missing  map[string]string    `json:"missing"`
}

func (l *live) outcomeOf(connectionID string) outcome {
	l.t.Helper()
	owner := l.seeded.Organisations[1]
	var told outcome
	begun := l.call(http.MethodPost, "/bridge/fhir/ehi-export", owner.PublicID, owner.PrivateKey,
		map[string]any{"org_connection_id": connectionID})
	expect.NoError(l.t, json.Unmarshal(begun.Data, &told))
	l.queues.pump()
	ended := l.call(http.MethodGet, "/bridge/fhir/ehi-export/"+told.TaskID+"?include=result", owner.PublicID,
		owner.PrivateKey, nil)
	expect.NoError(l.t, json.Unmarshal(ended.Data, &told))
	return told
}
