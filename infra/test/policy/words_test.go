package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

// words are those that the code once had, with the field's. In a folder of its In a word has another, common sense.
func words() []policy.Word {
	return []policy.Word{
		{Old: "errand", Use: "dispatch, or scenario of a journey"},
		{Old: "court", Use: "suite"},
		{Old: "hear", Use: "run"},
		{Old: "verdict", Use: "result or decision", In: []string{"infra/local/"}},
		{Old: "needless", Use: "stale"},
		{Old: "groundtruth", Use: "exporttest"},
		{Old: "manners", Use: "Profile"},
		{Old: "habit", Use: "Profile"},
		{Old: "keeper", Use: "Manager"},
		{Old: "gate", Whole: true, Use: "Limiter"},
		{Old: "patience", Use: "MaxWait", In: []string{"infra/demo/"}},
		{Old: "sheltered", Use: "opaque"},
		{Old: "care", Whole: true, Use: "RefreshState"},
		{Old: "nudge", Use: "Enqueue"},
		{Old: "luck", Use: "Jitter", In: []string{"infra/local/faults/"}},
		{Old: "setback", Use: "retryable"},
		{Old: "hand over error", Use: "yield"},
		{Old: "stretch", Use: "runOnce"},
		{Old: "tally", Use: "segmentWriter or counts"},
		{Old: "anew", Use: "restart", In: []string{"infra/local/provision/"}},
		{Old: "settle", Use: "record or finish", In: []string{"infra/local/"}},
		{Old: "heed", Use: "handleRefusal"},
		{Old: "remedy", Use: "failureKind"},
		{Old: "book", Whole: true, Use: "Registry"},
		{Old: "conditions", Whole: true, Use: "HealthStore", In: []string{"infra/local/", "shared/export/plan/"}}, // of CloudFormation, IAM and DynamoDB, and FHIR's
		{Old: "traffic", Whole: true, Use: "EndpointState"},
		{Old: "letter", Whole: true, Use: "mail text", In: []string{"infra/"}},
		{Old: "plain lines", Use: "AddMetaSource"},
		{Old: "lingers", Use: "objectGrace"},
		{Old: "afterlife", Use: "ttlGrace"},
		{Old: "theatre", Use: "simulation"},
		{Old: "hospital", Whole: true, Use: "fakeFHIR", In: []string{"shared/operator/", "shared/catalog/"}},
		{Old: "desk", Use: "fake"},
		{Old: "mortal", Use: "fake"},
		{Old: "ordeal", Use: "simulation"},
	}
}

func TestTheCodeSpeaksTheFieldsWords(t *testing.T) {
	t.Parallel()
	for _, f := range policy.Dialect(need(t, tree), words()) {
		t.Error(f)
	}
}

func TestCommentsCiteWhatIsInTheRepository(t *testing.T) {
	t.Parallel()
	for _, f := range policy.Citations(need(t, tree)) {
		t.Error(f)
	}
}

func TestAPaperThatIsNotHereIsFound(t *testing.T) {
	t.Parallel()
	finds(t, policy.Citations(files(t, map[string]string{
		"a/a.go": "package a\n\n// See decisions\n// section 6.\nvar _ = \"spec 4.2\"\n\n// As RFC 9700 section 4.1, AWS issue 1556 and docs/architecture.md say.\nvar _ = 1\n",
		"a/b.go": "package a\n\n// See fhir notes 1.6.\n", "a/c.go": "package a\n\n// Seen (notes on platforms, section 1.6).\n", "Makefile": "# issue 5 item 7\n", "a.py": "# style.md section 7\n", "b.yaml": "# spec section 4.2",
		"docs/deviations.md": "spec 6.2", "docs/openapi.yaml": "spec 6.2",
	})),
		`Makefile: cites "issue 5", which is not in the repository`,
		`a.py: cites "style.md", which is not in the repository`,
		`a/a.go:3: cites "decisions section", which is not in the repository`,
		`a/b.go:3: cites "fhir notes", which is not in the repository`,
		`a/c.go:3: cites "notes on platforms, section", which is not in the repository`,
		`b.yaml: cites "spec section", which is not in the repository`,
	)
}

func TestANameOfTheOldWordsIsFound(t *testing.T) {
	t.Parallel()
	finds(t, policy.Dialect(files(t, map[string]string{
		"a/a.go": "package a\n\ntype tokenKeeper struct{}\n\nfunc HTTPKeepers() {}\n\nvar goalkeeper, Gate, floodGate = 1, 2, 3\n\nconst hand_over = 1\n",
		"b/b.go": "package b\n\nvar keeper = 1\n",
	}), []policy.Word{{Old: "keeper", Use: "Manager", In: []string{"b/"}}, {Old: "gate", Whole: true, Use: "Limiter"}, {Old: "hand over", Use: "yield"}}),
		"a/a.go:3: tokenKeeper: the field's word is Manager",
		"a/a.go:5: HTTPKeepers: the field's word is Manager",
		"a/a.go:7: Gate: the field's word is Limiter",
		"a/a.go:9: hand_over: the field's word is yield",
	)
}
