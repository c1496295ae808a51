package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAddKeyPrintsCreatedKeyWhenAuditFails(t *testing.T) {
	outputs := newStack(t)
	do := doer(t, outputs)
	org := do("organisation", "create", "-name", "Alder")["id"].(string)
	public := do("credential", "create", "-org", org, "-mode", "test", "-redirect",
		"https://app.example/return")["public_id"].(string)

	text, err := os.ReadFile(outputs)
	if err != nil {
		t.Fatal(err)
	}
	var stack map[string]any
	if err = json.Unmarshal(text, &stack); err != nil {
		t.Fatal(err)
	}
	stack["AuditTable"] = "nowhere"
	if text, err = json.Marshal(stack); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "outputs.json")
	if err = os.WriteFile(broken, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = run(t.Context(), []string{"-outputs", broken, "credential", "add-key", "-public-id", public}, to(&out))
	if err == nil || !strings.Contains(err.Error(), "was created") ||
		!strings.Contains(out.String(), `"private_key": "private_test_`) {
		t.Errorf("printed %q and failed with %v", out.String(), err)
	}
	out.Reset()
	err = run(t.Context(), []string{"-outputs", broken, "credential", "add-key", "-public-id", public}, to(&out))
	if err == nil || out.Len() > 0 {
		t.Errorf("a third key: printed %q and failed with %v", out.String(), err)
	}
}
