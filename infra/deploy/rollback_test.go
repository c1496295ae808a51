package main

import (
	"fmt"
	"strings"
	"testing"
)

const (
	first  = "1764420000-0.1.0-aaaaaaaaaaaa"
	second = "1764430000-0.2.0-bbbbbbbbbbbb"
	third  = "1764440000-0.2.0-cccccccccccc"
)

// withReleases returns a project whose stack has two functions since an unnamed release, and a third since the release
// second. The release third is live.
func withReleases(t *testing.T) *project {
	t.Helper()
	p := newProject(t)
	p.lambda.publish("", 0, "A", "B")
	p.lambda.publish(first, 10, "A", "B")
	p.lambda.publish(second, 20, "A", "B", "C")
	p.lambda.publish(third, 30, "A", "B", "C")
	return p
}

func TestRollbackMovesEveryFunctionOfRelease(t *testing.T) {
	for to, test := range map[string]struct{ state, want string }{
		second:         {"A: 3 of [1 2 3 4], B: 3 of [1 2 3 4], C: 1 of [1 2]", second + " is live. 3 functions were moved"},
		"bbbbbbb":      {"A: 3 of [1 2 3 4], B: 3 of [1 2 3 4], C: 1 of [1 2]", second + " is live. 3 functions were moved"},
		"0.1.0":        {"A: 2 of [1 2 3 4], B: 2 of [1 2 3 4], C: 2 of [1 2]", first + " is live. 2 functions were moved"},
		"cccccccccccc": {"A: 4 of [1 2 3 4], B: 4 of [1 2 3 4], C: 2 of [1 2]", "0 functions were moved, 3 already ran it"},
	} {
		t.Run(to, func(t *testing.T) {
			p := withReleases(t)
			printed, err := p.rollback(t, to)
			if err != nil || p.lambda.state() != test.state || !strings.Contains(printed, test.want) {
				t.Errorf("%v, got %s, want %s; printed %s, want %q", err, p.lambda.state(), test.state, printed, test.want)
			}
			if isNew := "C                                version 2 stays"; strings.Contains(printed, isNew) != (to == "0.1.0") {
				t.Errorf("%q is wrong in %s", isNew, printed)
			}
		})
	}
}

func TestRollbackEndsCanary(t *testing.T) {
	p := withReleases(t)
	p.lambda.functions["stack-A"].live, p.lambda.functions["stack-A"].canary = 3, 4
	printed, err := p.rollback(t, second)
	if a := p.lambda.functions["stack-A"]; err != nil || a.live != 3 || a.canary != 0 {
		t.Errorf("%v, got the versions %d and %d, want only 3; printed %s", err, a.live, a.canary, printed)
	}
}

func TestRollbackListsReleasesWhenNoneIsChosen(t *testing.T) {
	for to, want := range map[string]string{
		"": "which release?", "0.9.0": "there is no release 0.9.0", "0.2.0": "2 releases match 0.2.0",
		"bbbbbb": "there is no release bbbbbb",
	} {
		p := withReleases(t)
		before := p.lambda.state()
		_, err := p.rollback(t, to)
		said := fmt.Sprint(err)
		if !strings.Contains(said, want) || p.lambda.state() != before || !strings.Contains(said,
			"Available:\n  "+third+"  2026-11-29T10:30:00.000+0000  live in 3 functions\n  "+second+
				"  2026-11-29T10:20:00.000+0000\n  "+first) {
			t.Errorf("%q: got %s, want %q and the releases; the state is %s", to, said, want, p.lambda.state())
		}
	}
	p := newProject(t)
	p.lambda.publish("", 0, "A")
	if _, err := p.rollback(t, first); err == nil || !strings.Contains(err.Error(), "No release has a name") {
		t.Errorf("got %v for a stack without named releases", err)
	}
}

func TestRollbackRejectsIncompleteRelease(t *testing.T) {
	p := withReleases(t)
	p.lambda.publish("1764450000-0.3.0-dddddddddddd", 40, "A") // a failed deployment
	before := p.lambda.state()
	if _, err := p.rollback(t, "0.3.0"); err == nil || p.lambda.state() != before {
		t.Errorf("got %v, the state is %s", err, p.lambda.state())
	}
}

func TestRollbackRejectsRunningDeployment(t *testing.T) {
	for status, want := range map[string]string{
		"UPDATE_IN_PROGRESS":                  "aws cloudformation cancel-update-stack --stack-name dev-stack",
		"UPDATE_ROLLBACK_IN_PROGRESS":         "dev-stack is UPDATE_ROLLBACK_IN_PROGRESS: wait",
		"UPDATE_COMPLETE_CLEANUP_IN_PROGRESS": "",
		"UPDATE_ROLLBACK_FAILED":              "",
	} {
		p := withReleases(t)
		p.status = status
		_, err := p.rollback(t, second)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", status, err, want)
		}
		if isMoved := p.lambda.functions["stack-A"].live == 3; isMoved != (want == "") {
			t.Errorf("%s: moved: %v", status, isMoved)
		}
	}
}

func TestRollbackContinuesAfterFailure(t *testing.T) {
	p := withReleases(t)
	p.lambda.failing = "PUT stack-B/aliases/live"
	printed, err := p.rollback(t, second)
	if err == nil || !strings.Contains(err.Error(), "1 of 3 functions were moved") ||
		!strings.Contains(err.Error(), "not authorised") || strings.Contains(printed, "is live") {
		t.Errorf("got %v, printed %s", err, printed)
	}
	p.lambda.failing, p.lambda.throttled = "", "PUT stack-B/aliases/live"
	printed, err = p.rollback(t, second)
	if want := "A: 3 of [1 2 3 4], B: 3 of [1 2 3 4], C: 1 of [1 2]"; err != nil || p.lambda.state() != want ||
		!strings.Contains(printed, "2 functions were moved, 1 already ran it") {
		t.Errorf("%v, got %s, want %s; printed %s", err, p.lambda.state(), want, printed)
	}
}

func TestRollbackNeedsStack(t *testing.T) {
	p := newProject(t)
	p.made = "stack"
	if _, err := p.rollback(t, first); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("got %v", err)
	}
}

// TestDeployDeletesVersionsOfOldReleases covers unnamed releases, the live version of an old release, and a failed
// deployment.
func TestDeployDeletesVersionsOfOldReleases(t *testing.T) {
	p := newProject(t)
	p.lambda.publish("", 0, "A", "B")
	p.lambda.publish("", 1, "A", "B")
	for i := range 9 {
		p.lambda.publish(fmt.Sprintf("17644%05d-0.1.0-aaaaaaaaaaaa", i), 10+i, "A", "B")
	}
	p.lambda.publish("1764490000-0.1.0-failed", 40, "A")
	p.lambda.functions["stack-A"].live, p.lambda.functions["stack-B"].live = 11, 1
	printed, _, err := p.deploy(t, "-env", "dev")
	// Nine complete releases and one unnamed release are kept, and B's live version.
	want := "A: 11 of [2 3 4 5 6 7 8 9 10 11], B: 1 of [1 2 3 4 5 6 7 8 9 10 11]"
	if err != nil || p.lambda.state() != want || !strings.Contains(printed, "keeps 9 releases for make rollback; 2 old") {
		t.Errorf("%v, got %s, want %s; printed %s", err, p.lambda.state(), want, printed)
	}
	p.lambda.publish("1764491000-0.1.0-aaaaaaaaaaaa", 50, "A", "B")
	p.lambda.publish("1764492000-0.1.0-aaaaaaaaaaaa", 51, "A", "B")
	printed, _, err = p.deploy(t, "-env", "dev")
	want = "A: 14 of [4 5 6 7 8 9 10 11 13 14], B: 13 of [4 5 6 7 8 9 10 11 12 13]"
	if err != nil || p.lambda.state() != want || !strings.Contains(printed, "keeps 10 releases") {
		t.Errorf("%v, got %s, want %s; printed %s", err, p.lambda.state(), want, printed)
	}
}

func TestDeploySucceedsWhenOldVersionsCannotBeDeleted(t *testing.T) {
	p := newProject(t)
	for i := range 11 {
		p.lambda.publish(fmt.Sprintf("17644%05d-0.1.0-aaaaaaaaaaaa", i), 10+i, "A")
	}
	p.lambda.failing = "DELETE stack-A"
	printed, _, err := p.deploy(t, "-env", "dev")
	if err != nil || !strings.Contains(printed, "Old function versions remain") ||
		!strings.Contains(printed, "delete version 1 of A") || !strings.Contains(printed, "not authorised") {
		t.Errorf("got %v, printed %s", err, printed)
	}
}
