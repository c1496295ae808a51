package main

import (
	"bytes"
	"strings"
	"testing"
)

// ran runs a command with an answer on standard input, and returns its output, its messages and its error.
func ran(t *testing.T, outputs, answer string, asks bool, line string) (out, said string, err error) {
	t.Helper()
	var printed, told bytes.Buffer
	err = run(t.Context(), append([]string{"-outputs", outputs}, strings.Fields(line)...),
		streams{input: strings.NewReader(answer), out: &printed, said: &told, asks: asks})
	return printed.String(), told.String(), err
}

func TestCredentialRevokeNamesKeysAndIsSafeToRepeat(t *testing.T) {
	outputs := newStack(t)
	do := doer(t, outputs)
	id := do("organisation", "create", "-name", "Alder")["id"].(string)
	public := do("credential", "create", "-org", id, "-mode", "live", "-redirect",
		"https://app.example/return")["public_id"].(string)
	keysOf := func() []any { return do("credential", "show", "-public-id", public)["keys"].([]any) }
	leaked := keysOf()[0].(map[string]any)["id"].(string)
	revoke := "credential revoke -public-id " + public
	play(t, outputs, []step{
		{line: revoke, refused: "set either -key or -all"},
		{line: revoke + " -key " + leaked, refused: "No live key would remain"},
		{line: revoke + " -all -yes", refused: "No live key would remain"},
		{line: revoke + " -key " + unknownID, refused: "-key: svc_not_found: The credential has no such key."},
	})
	added := do("credential", "add-key", "-public-id", public)["key_id"].(string)
	_, _, err := ran(t, outputs, "", false, revoke+" -key "+leaked)
	want := "permanently revokes 1 of 2 live keys of " + public + " (organisation " + id + ", live mode): " + leaked +
		", created "
	again := "run: ctl -outputs " + outputs + " " + revoke + " -key " + leaked + " -yes"
	if exitCode(err) != 2 || !strings.Contains(errorText(err), want) || !strings.HasSuffix(errorText(err), again) {
		t.Errorf("without a terminal: exit code %d, %v", exitCode(err), err)
	}
	for _, answer := range []string{"n\n", "", "\n"} {
		if _, said, failed := ran(t, outputs, answer, true, revoke+" -key "+leaked); exitCode(failed) != 2 ||
			!strings.Contains(said, want) || !strings.Contains(said, "Continue? [y/N]") {
			t.Errorf("answer %q: exit code %d, said %s", answer, exitCode(failed), said)
		}
	}
	if keys := keysOf(); keys[0].(map[string]any)["revoked_at"] != nil {
		t.Fatal("a key was revoked without confirmation")
	}
	out, _, err := ran(t, outputs, "y\n", true, revoke+" -key "+leaked)
	if err != nil || !strings.Contains(out, `"id": "`+leaked) || !strings.Contains(out, `"live_keys": 1`) ||
		!strings.Contains(out, `"changed": true`) || strings.Contains(out, added) {
		t.Errorf("confirmed: %s (%v)", out, err)
	}
	out, said, err := ran(t, outputs, "", false, revoke+" -key "+leaked)
	if err != nil || !strings.Contains(out, `"changed": false`) || !strings.Contains(out, `"revoked": []`) ||
		!strings.Contains(said, "nothing was changed") {
		t.Errorf("repeated: %s %s (%v)", out, said, err)
	}
	play(t, outputs, []step{
		{line: revoke + " -key " + added + " -yes", refused: "No live key would remain"},
		{line: revoke + " -all -allow-none -yes", prints: "live_keys:0"},
		{line: revoke + " -all", prints: "changed:false"},
	})
}

// TestDestructiveCommandsRequireConfirmation checks that commands without a terminal and without -yes name the affected
// objects and change nothing.
func TestDestructiveCommandsRequireConfirmation(t *testing.T) {
	outputs := newStack(t)
	w := newWorld(t, outputs)
	imported(t, outputs, "Alder Hospital")
	hook := " -org " + w.org + " -mode test -id " + w.hook
	for line, want := range map[string]string{
		"organisation suspend -org " + w.org:                         `("Alder") with its 1 credentials`,
		"organisation delete -name Alder -org " + w.org:              `permanently deletes organisation ` + w.org,
		"organisation live -withdraw -reason Unclear. -org " + w.org: "ends live mode",
		"webhook remove" + hook:                                      "webhook " + w.hook + " (app.example)",
		"webhook rotate -expire-now" + hook:                          "revokes the signing secrets",
		"endpoint disable -id " + w.endpoint:                         `("Maple Hospital", test mode, ` + nowhere,
		"endpoint remove -id " + w.endpoint:                          "permanently removes endpoint",
		"client remove -id " + w.client:                              "client authentication " + w.client,
		"registration remove -endpoint " + w.endpoint:                "of all organisations at " + w.endpoint,
		"catalog publish":                                            "live mode at once: 1 institutions added",
		"catalog rollback -version x":                                "by version x",
		"catalog source remove -id alder-county":                     "list of 1 institutions",
		"redrive -queue exports -apply":                              "about 0 dead letters of the queue exports",
		"inquiry answer -text-file flags_test.go" + hook:             "to the patient of inquiry " + w.hook,
	} {
		out, _, err := ran(t, outputs, "y\n", false, line)
		if exitCode(err) != 2 || !strings.Contains(errorText(err), want) || out != "" ||
			!strings.HasSuffix(errorText(err), "-yes") {
			t.Errorf("%s: exit code %d, %v; want %q", line, exitCode(err), err, want)
		}
	}
	play(t, outputs, []step{
		{line: "organisation show -org " + w.org, prints: "status:active"},
		{line: "endpoint show -id " + w.endpoint, prints: "status:active"},
		{line: "catalog report", prints: "live: "},
	})
}

func TestRepeatedCommandLineIsQuotedForShell(t *testing.T) {
	t.Parallel()
	s := session{at: where{stack: "recordbridge"}, line: []string{"organisation", "suspend", "-org", "O'Hara & Sons"}}
	want := `ctl -stack recordbridge organisation suspend -org 'O'\''Hara & Sons' -yes`
	if got := s.repeated(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
