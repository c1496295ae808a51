package webhook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/webhook"
)

func TestCatalogueListsSpecifiedTypesAndExtensions(t *testing.T) {
	t.Parallel()
	want := map[string]webhook.Choice{ // the choices documented in docs/reference/deviations.md, Webhooks
		"patient.ehi_export_success":     webhook.Locked,
		"patient.ehi_export_failed":      webhook.Locked,
		"webhook.test":                   webhook.Locked,
		"patient.request_health_system":  webhook.OnByDefault,
		"patient.request_support":        webhook.OnByDefault,
		"patient.connection_success":     webhook.OptIn,
		"patient.authorization_revoked":  webhook.OptIn,
		"patient.connection_failed":      webhook.OptIn,
		"patient.authorization_expiring": webhook.OptIn,
		"patient.ehi_export_progress":    webhook.OptIn,
	}
	ours := map[string]bool{
		"patient.connection_failed": true, "patient.authorization_expiring": true, "patient.ehi_export_progress": true,
	}
	got := map[string]webhook.Choice{}
	for _, k := range webhook.Catalogue() {
		got[string(k.Type)] = k.Default
		if k.Extension != ours[string(k.Type)] {
			t.Errorf("%s is an extension: %v", k.Type, k.Extension)
		}
		if k.Title == "" || k.When == "" || k.Example == nil {
			t.Errorf("%s has no title, no sentence or no example", k.Type)
		}
		if diff := cmp.Diff(k.Example, webhook.Example(k.Type)); diff != "" {
			t.Errorf("%s (-catalogue +example):\n%s", k.Type, diff)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(webhook.Catalogue()) != len(want) {
		t.Errorf("%d types (-want +got):\n%s", len(webhook.Catalogue()), diff)
	}
}

func TestParseTypeRejectsTypesOutsideCatalogue(t *testing.T) {
	t.Parallel()
	for _, k := range webhook.Catalogue() {
		if got, ok := webhook.ParseType(string(k.Type)); !ok || got != k.Type {
			t.Errorf("ParseType(%q) = %q, %v", k.Type, got, ok)
		}
	}
	for _, text := range []string{"", "patient.unknown", "PATIENT.CONNECTION_SUCCESS", "webhook.test "} {
		if got, ok := webhook.ParseType(text); ok || got != "" || webhook.Example(webhook.Type(text)) != nil {
			t.Errorf("ParseType(%q) = %q, %v, with an example or not", text, got, ok)
		}
	}
}

func TestRequiredAndDefaultTypesMatchSpecification(t *testing.T) {
	t.Parallel()
	required := []webhook.Type{"patient.ehi_export_success", "patient.ehi_export_failed", "webhook.test"}
	if diff := cmp.Diff(required, webhook.Required()); diff != "" {
		t.Errorf("required (-want +got):\n%s", diff)
	}
	optional := []webhook.Type{"patient.request_health_system", "patient.request_support"}
	if diff := cmp.Diff(optional, webhook.Default()); diff != "" {
		t.Errorf("by default (-want +got):\n%s", diff)
	}
}
