package main

import (
	"strings"
	"testing"
)

func TestOrganisationIsFoundByNameOrUniquePrefix(t *testing.T) {
	outputs := newStack(t)
	do := doer(t, outputs)
	made := map[string]string{}
	for _, name := range []string{"Alder", "Alder Health", "Birch Clinic", "Birch House"} {
		made[name] = do("organisation", "create", "-name", name)["id"].(string)
	}
	for named, want := range map[string]string{
		"Alder": "Alder", "alder": "Alder", "ALDER H": "Alder Health", "birch c": "Birch Clinic",
		made["Birch House"]: "Birch House",
	} {
		if got := do("organisation", "show", "-org", named); got["id"] != made[want] {
			t.Errorf("%s is %v, want %s", named, got["name"], want)
		}
	}
	_, err := ctl(t, outputs, "organisation", "show", "-org", "birch")
	for _, want := range []string{made["Birch Clinic"] + ` ("Birch Clinic")`, made["Birch House"] + ` ("Birch House")`} {
		if exitCode(err) != 2 || strings.Count(errorText(err), want) != 1 {
			t.Errorf("an ambiguous name: exit code %d, %v, want %s", exitCode(err), err, want)
		}
	}
	if _, err = ctl(t, outputs, "audit", "list", "-org", "Cedar"); exitCode(err) != 2 ||
		!strings.Contains(errorText(err), "no organisation has this ID or name") {
		t.Errorf("an unknown name: %v", err)
	}
	if got := do("audit", "list", "-org", "alder h"); len(got["rows"].([]any)) != 1 {
		t.Errorf("the audit rows are %v", got)
	}
}

func TestModeDefaultsToOnlyModeThatApplies(t *testing.T) {
	outputs := newStack(t)
	do := doer(t, outputs)
	create := func(mode string) string {
		return do("webhook", "create", "-org", "Alder", "-mode", mode, "-url", "https://app.example/hook")["id"].(string)
	}
	do("organisation", "create", "-name", "Alder")
	do("organisation", "create", "-name", "Birch", "-without-live")
	const both = "-mode is required, because both modes apply: pass -mode test or -mode live"
	play(t, outputs, []step{
		{line: "webhook create -org Alder -url https://app.example/hook", refused: both},
		{line: "webhook create -org Birch -url https://app.example/hook", prints: "disabled:false"},
		{line: "export list -org Alder", refused: both},
	})
	live := create("live")
	out, said, err := ran(t, outputs, "", false, "webhook list -org Alder")
	if err != nil || !strings.Contains(out, live) || !strings.Contains(said,
		"using live mode, the only mode that applies") {
		t.Errorf("rows in live mode only: %s %s (%v)", out, said, err)
	}
	test := create("test")
	play(t, outputs, []step{
		{line: "webhook list -org Alder", refused: both},
		{line: "webhook show -org Alder -id " + live, prints: live},
		{line: "webhook show -org Alder -id " + test, prints: test},
		{line: "webhook show -org Alder -mode test -id " + live, refused: "not found for"},
		{line: "webhook show -org Alder -id " + unknownID, refused: both},
		{line: "catalog report", refused: "-mode is required: pass -mode test or -mode live"},
		{line: "registration set -platform epic -client-id ours", refused: "-mode is required"},
		{line: "registration set -platform epic -client-id ours -mode live", prints: "mode:live"},
		{line: "registration set -platform epic -client-id another", prints: "mode:live"},
	})
}
