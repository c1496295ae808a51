package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/words/org"
)

// TestWebhookSetUpdatesWebhookAndPrintsSecrets checks that ctl can make the same changes to a webhook as the dashboard.
func TestWebhookSetUpdatesWebhookAndPrintsSecrets(t *testing.T) {
	outputs, sent := newRecordedStack(t, "")
	do := doer(t, outputs)
	id := do("organisation", "create", "-without-live", "-name", "Alder")["id"].(string)
	made := do("webhook", "create", "-org", id, "-url", "https://app.example/hook", "-note", "Intake")
	hook := made["id"].(string)
	of := []string{"-org", id, "-id", hook}
	set := func(more ...string) map[string]any {
		return do(slices.Concat([]string{"webhook", "set"}, of, more)...)
	}
	if made["note"] != "Intake" || made["public_key"] != nil {
		t.Errorf("made %v", made)
	}
	changed := set("-note", "Front desk", "-rate", "7", "-signing-key", "-header-file",
		writeFile(t, "X-Team=value-of-the-team"))
	if changed["note"] != "Front desk" || changed["rate"] != 7.0 ||
		!strings.HasPrefix(fmt.Sprint(changed["public_key"]), "whpk_") || fmt.Sprint(changed["headers"]) != "[X-Team]" {
		t.Errorf("changed to %v", changed)
	}
	if another := set("-signing-key"); another["public_key"] == changed["public_key"] || another["note"] != "Front desk" ||
		another["rate"] != 7.0 {
		t.Errorf("with another key: %v", another)
	}
	if bare := set("-note", "", "-rate", "0", "-no-headers", "-no-signing-key"); bare["note"] != nil ||
		bare["rate"] != nil || bare["headers"] != nil || bare["public_key"] != nil {
		t.Errorf("with nothing of its own: %v", bare)
	}
	rotated := do(slices.Concat([]string{"webhook", "rotate", "-yes"}, of)...)
	told, err := ctl(t, outputs, slices.Concat([]string{"webhook", "show", "-secrets"}, of)...)
	secrets, _ := told["secrets"].([]any)
	if err != nil || len(secrets) != 2 || secrets[0].(map[string]any)["secret"] != rotated["secret"] ||
		secrets[0].(map[string]any)["ends_at"] != nil ||
		secrets[1].(map[string]any)["secret"] != made["secret"] || secrets[1].(map[string]any)["ends_at"] == nil {
		t.Errorf("the secrets are %v (%v)", told, err)
	}
	for _, secret := range []any{"value-of-the-team", made["secret"], rotated["secret"]} {
		if shows(sent.all(), fmt.Sprint(secret)) {
			t.Error("a secret left the command unsealed")
		}
	}
	tail := openStored(t, outputs).audited(t, org.Tenant{Mode: org.Test, OrgID: id})
	if want := []string{
		"webhook.changed " + hook, "webhook.changed " + hook, "webhook.changed " + hook,
		"webhook.rotated " + hook, "webhook.secret_revealed " + hook,
	}; !slices.Equal(tail[len(tail)-5:], want) {
		t.Errorf("the audit rows end with %q", tail)
	}
	tenant := " -org " + id + " -id " + hook
	play(t, outputs, []step{
		{line: "webhook set" + tenant, refused: "nothing to change"},
		{line: "webhook set" + tenant + " -signing-key -no-signing-key", refused: "can't be combined"},
		{line: "webhook set" + tenant + " -no-headers -header-file x", refused: "can't be combined"},
		{line: "webhook set" + tenant + " -rate 1001", refused: "from 1 to 1000"},
		{line: "webhook set" + tenant + " -note " + strings.Repeat("n", 201), refused: "note"},
		{line: "webhook set -mode live" + tenant + " -rate 1", refused: "not found for"},
		{line: "webhook show -secrets -mode live" + tenant, refused: "not found for"},
	})
}
