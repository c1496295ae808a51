package contract_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"recordbridge/infra/test/contract"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
)

const root = "../../../"

func TestOpenAPIAndAsyncAPIHaveSameVersion(t *testing.T) {
	t.Parallel()
	var api map[string]any
	read(t, root+"docs/openapi.yaml", &api)
	if got, want := lookUp(document(t), "#/info/version"), lookUp(api, "#/info/version"); got != want || want == nil {
		t.Errorf("version %v, want openapi.yaml's %v", got, want)
	}
}

func TestOpenAPIListsEveryEventType(t *testing.T) {
	t.Parallel()
	var api map[string]any
	read(t, root+"docs/openapi.yaml", &api)
	want := make([]any, 0, len(webhook.Catalogue()))
	for _, kind := range webhook.Catalogue() {
		want = append(want, string(kind.Type))
	}
	if diff := cmp.Diff(want, lookUp(api, "#/components/schemas/EventType/enum")); diff != "" {
		t.Errorf("EventType of openapi.yaml (-catalogue +file):\n%s", diff)
	}
}

func TestAsyncAPIReferencesResolveAndCoverEverySchema(t *testing.T) {
	t.Parallel()
	described := document(t)
	used := map[string]bool{}
	for _, to := range references(described) {
		if lookUp(described, to) == nil {
			t.Errorf("%s leads nowhere", to)
		}
		used[to] = true
	}
	for _, kind := range []string{"schemas", "messages"} {
		for name := range lookUp(described, "#/components/"+kind).(map[string]any) {
			if to := "#/components/" + kind + "/" + name; !used[to] {
				t.Errorf("nothing refers to %s", to)
			}
		}
	}
}

func references(value any) []string {
	var all []string
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if to, isText := inner.(string); isText && name == "$ref" {
				all = append(all, to)
			}
			all = append(all, references(inner)...)
		}
	case []any:
		for _, inner := range value {
			all = append(all, references(inner)...)
		}
	}
	return all
}

func TestAsyncAPIHasMessageForEveryEventType(t *testing.T) {
	t.Parallel()
	described := document(t)
	want := make([]string, 0, len(webhook.Catalogue()))
	for _, k := range webhook.Catalogue() {
		want = append(want, string(k.Type))
		message := messageOf(described, k.Type)
		if message["x-subscribed"] != string(k.Default) || message["x-extension"] != k.Extension ||
			message["summary"] != k.When {
			t.Errorf("%s is %v, %v: %v", k.Type, message["x-subscribed"], message["x-extension"], message["summary"])
		}
	}
	slices.Sort(want)
	channel := lookUp(described, "#/channels/webhook/messages").(map[string]any)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(channel))); diff != "" {
		t.Errorf("messages (-catalogue +channel):\n%s", diff)
	}
}

func TestAsyncAPIExamplesMatchSchemas(t *testing.T) {
	t.Parallel()
	described := document(t)
	for _, k := range webhook.Catalogue() {
		for _, example := range messageOf(described, k.Type)["examples"].([]any) {
			sent, header := example.(map[string]any), http.Header{}
			for name, value := range sent["headers"].(map[string]any) {
				header.Set(name, value.(string))
			}
			body, err := json.Marshal(sent["payload"])
			expect.NoError(t, err)
			if err := events(t).Check(header, body); err != nil {
				t.Error(err)
			}
		}
	}
}

// golden returns sample webhook bodies from shared/webhook's golden files, by file name.
func golden(t *testing.T) map[string]map[string]any {
	t.Helper()
	files, err := filepath.Glob(root + "shared/webhook/testdata/*.json")
	expect.NoError(t, err)
	if len(files) < len(webhook.Catalogue()) {
		t.Fatalf("%d bodies for %d types", len(files), len(webhook.Catalogue()))
	}
	bodies := map[string]map[string]any{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		expect.NoError(t, err)
		var body map[string]any
		expect.NoError(t, json.Unmarshal(text, &body))
		bodies[filepath.Base(file)] = body
	}
	return bodies
}

// problem validates a webhook body. It returns an error that lists all violations, or nil if there are none.
func problem(t *testing.T, body map[string]any) error {
	t.Helper()
	text, err := json.Marshal(body)
	expect.NoError(t, err)
	header := http.Header{}
	header.Set("Webhook-Id", "00000000-0000-4000-8000-000000000000")
	header.Set("Webhook-Timestamp", "1893456000")
	header.Set("Webhook-Signature", "v1,AAAA")
	return events(t).Check(header, text)
}

func events(t *testing.T) *contract.Events {
	t.Helper()
	text, err := os.ReadFile(root + "docs/asyncapi.yaml")
	expect.NoError(t, err)
	described, err := contract.ReadEvents(text)
	expect.NoError(t, err)
	return described
}

func TestGoldenEventsMatchSchemas(t *testing.T) {
	t.Parallel()
	for name, body := range golden(t) {
		own := body["type"]
		for _, k := range webhook.Catalogue() {
			body["type"] = string(k.Type)
			if err := problem(t, body); (err == nil) != (own == body["type"]) {
				t.Errorf("%s as a %s: %v", name, k.Type, err)
			}
		}
	}
}

// TestAsyncAPISchemasRestrictEveryMember checks that every member of a complete body has a type, and that only optional
// members can be removed.
func TestAsyncAPISchemasRestrictEveryMember(t *testing.T) {
	t.Parallel()
	optional := map[string][]string{
		"patient.ehi_export_success":     {"download_link", "manifest"},
		"patient.ehi_export_failed":      nil,
		"webhook.test":                   nil,
		"patient.request_health_system":  {"street_address", "website"},
		"patient.request_support":        {"name"},
		"patient.connection_success":     {"consent_expires_at", "scope"},
		"patient.authorization_revoked":  nil,
		"patient.connection_failed":      {"external_id", "external_state", "org_connection_id", "platform_type"},
		"patient.ehi_export_progress":    nil,
		"patient.authorization_expiring": nil,
	}
	bodies := golden(t)
	for _, k := range webhook.Catalogue() {
		body := bodies[string(k.Type)+".json"]
		data := body["data"].(map[string]any)
		var got []string
		for name, value := range data {
			delete(data, name)
			if problem(t, body) == nil {
				got = append(got, name)
			}
			data[name] = []any{"nothing has a list of texts"}
			if problem(t, body) == nil {
				t.Errorf("%s: %s may be anything", k.Type, name)
			}
			data[name] = value
		}
		slices.Sort(got)
		if diff := cmp.Diff(optional[string(k.Type)], got); diff != "" {
			t.Errorf("%s can lack (-want +got):\n%s", k.Type, diff)
		}
	}
}

func TestEventsCheckRejectsInvalidEvents(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file  string
		spoil func(body, data map[string]any)
	}{
		"another status": {
			"patient.connection_success.json",
			func(_, d map[string]any) { d["connection_status"] = "revoked" },
		},
		"a revocation that is not": {
			"patient.authorization_revoked.json",
			func(_, d map[string]any) { d["connection_status"] = "authorized" },
		},
		"another reason": {
			"patient.ehi_export_failed.json",
			func(_, d map[string]any) { d["failure_reason"] = "bad_luck" },
		},
		"no brand": {"patient.connection_success.json", func(_, d map[string]any) { delete(d, "brand_id") }},
		"another TEFCA scope": {
			"patient.connection_success-tefca.json",
			func(_, d map[string]any) { d["scope"] = "openid" },
		},
		"no TEFCA scope": {
			"patient.connection_success-tefca.json",
			func(_, d map[string]any) { delete(d, "scope") },
		},
		"no TEFCA directory": {
			"patient.connection_success-tefca.json",
			func(_, d map[string]any) { delete(d, "tefca_directory_id") },
		},
		"a first progress of 0": {"patient.ehi_export_progress.json", func(_, d map[string]any) { d["sequence"] = 0 }},
		"no link": {
			"patient.ehi_export_success.json",
			func(_, d map[string]any) { d["download_links"] = []any{} },
		},
		"half a resource": {"patient.ehi_export_success.json", func(_, d map[string]any) {
			d["stats"].(map[string]any)["total_by_resource_type"].(map[string]any)["Patient"] = 0.5
		}},
		"a day without a time": {
			"patient.authorization_expiring.json",
			func(_, d map[string]any) { d["consent_expires_at"] = "2030-01-08" },
		},
		"an id that is none": {"webhook.test.json", func(b, _ map[string]any) { b["id"] = "1" }},
		"another mode":       {"webhook.test.json", func(b, _ map[string]any) { b["api_mode"] = "demo" }},
		"complete and not": {
			"patient.ehi_export_success-incomplete.json",
			func(_, d map[string]any) { d["complete"] = true },
		},
		"an unknown reason": {"patient.ehi_export_success-incomplete.json", func(_, d map[string]any) {
			d["missing"].(map[string]any)["Binary"] = "bad_luck"
		}},
		"an undeclared member": {"webhook.test.json", func(_, d map[string]any) { d["extra"] = "x" }},
		"no date":              {"webhook.test.json", func(b, _ map[string]any) { delete(b, "date") }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := golden(t)[test.file]
			test.spoil(body, body["data"].(map[string]any))
			if problem(t, body) == nil {
				t.Errorf("%s is accepted", test.file)
			}
		})
	}
}

func document(t *testing.T) map[string]any {
	t.Helper()
	var described map[string]any
	read(t, root+"docs/asyncapi.yaml", &described)
	return described
}

func messageOf(described map[string]any, t webhook.Type) map[string]any {
	message, _ := lookUp(described, "#/components/messages/"+string(t)).(map[string]any)
	return message
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	expect.NoError(t, err)
	expect.NoError(t, yaml.Unmarshal(text, into))
}

// lookUp resolves a reference within the document, or returns nil if its target does not exist.
func lookUp(document map[string]any, reference string) any {
	var at any = document
	for name := range strings.SplitSeq(strings.TrimPrefix(reference, "#/"), "/") {
		inside, isObject := at.(map[string]any)
		if !isObject {
			return nil
		}
		at = inside[name]
	}
	return at
}

// TestLossReasonsMatchDocumentation checks that the OpenAPI and AsyncAPI documents, docs/guide/incomplete-records.md
// and the code define the same reasons for missing data.
func TestLossReasonsMatchDocumentation(t *testing.T) {
	t.Parallel()
	var api map[string]any
	read(t, root+"docs/openapi.yaml", &api)
	want := lookUp(document(t), "#/components/schemas/ExportSuccess/properties/missing/additionalProperties/enum").([]any)
	if diff := cmp.Diff(want,
		lookUp(api, "#/components/schemas/TaskWithResult/properties/missing/additionalProperties/enum")); diff != "" {
		t.Errorf("missing (-asyncapi +openapi):\n%s", diff)
	}
	reasons := lookUp(api, "#/components/schemas/TypeOutcome/properties/reason/enum").([]any)
	if diff := cmp.Diff(slices.Concat([]any{"unsupported", "not_granted"}, want), reasons); diff != "" {
		t.Errorf("reasons of an outcome (-no loss and missing +openapi):\n%s", diff)
	}
	text, err := os.ReadFile(root + "docs/guide/incomplete-records.md")
	expect.NoError(t, err)
	_, table, _ := strings.Cut(string(text), "| Word | Why resources of this type are missing")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(table, -1)
	told := make([]any, 0, len(rows))
	for _, row := range rows {
		told = append(told, row[1])
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("docs/guide/incomplete-records.md (-asyncapi +table):\n%s", diff)
	}
	if diff := cmp.Diff(reasons, lossReasons(t)); diff != "" {
		t.Errorf("shared/export (-openapi +code):\n%s", diff)
	}
}

// lossReasons returns the values of the LossReason constants in shared/export, in source order.
func lossReasons(t *testing.T) []any {
	t.Helper()
	var found []any
	declared := regexp.MustCompile(`(?m)^\tLoss\w+\s+LossReason\s*=\s*"([a-z_]+)"`)
	expect.NoError(t, filepath.WalkDir(root+"shared/export", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, constant := range declared.FindAllStringSubmatch(string(text), -1) {
			found = append(found, constant[1])
		}
		return err
	}))
	return found
}
