package asyncapi_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"recordbridge/infra/apidocs/asyncapi"
	"recordbridge/shared/webhook"
)

const root = "../../../"

func TestTheFileIsWhatTheTypesSay(t *testing.T) {
	t.Parallel()
	want, err := asyncapi.Document()
	must(t, err)
	got, err := os.ReadFile(root + "docs/asyncapi.yaml")
	must(t, err)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run `go run ./infra/apidocs` (-types +file):\n%s", diff)
	}
}

func TestBothDescriptionsAreOfOneVersion(t *testing.T) {
	t.Parallel()
	var api map[string]any
	read(t, root+"docs/openapi.yaml", &api)
	if got, want := lookUp(document(t), "#/info/version"), lookUp(api, "#/info/version"); got != want || want == nil {
		t.Errorf("version %v, want openapi.yaml's %v", got, want)
	}
}

func TestTheListOfEventsKnowsTheSameTypes(t *testing.T) {
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

func TestEveryReferenceLeadsSomewhereAndEverySchemaIsUsed(t *testing.T) {
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

func TestTheChannelHasAMessageForEveryType(t *testing.T) {
	t.Parallel()
	described := document(t)
	want := make([]string, 0, len(webhook.Catalogue()))
	for _, k := range webhook.Catalogue() {
		want = append(want, string(k.Type))
		message := messageOf(described, k.Type)
		if message["x-subscribed"] != string(k.Default) || message["x-extension"] != k.Extension || message["summary"] != k.When {
			t.Errorf("%s is %v, %v: %v", k.Type, message["x-subscribed"], message["x-extension"], message["summary"])
		}
	}
	slices.Sort(want)
	channel := lookUp(described, "#/channels/webhook/messages").(map[string]any)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(channel))); diff != "" {
		t.Errorf("messages (-catalogue +channel):\n%s", diff)
	}
}

func TestTheExamplesAreAsTheSchemasSay(t *testing.T) {
	t.Parallel()
	described := document(t)
	for _, k := range webhook.Catalogue() {
		message := messageOf(described, k.Type)
		for _, example := range message["examples"].([]any) {
			for _, part := range []string{"headers", "payload"} {
				for _, p := range problems(described, message[part], example.(map[string]any)[part]) {
					t.Errorf("%s of %s%s", part, k.Type, p)
				}
			}
		}
	}
}

// golden reads the bodies that customers receive, as shared/webhook's tests pin them.
func golden(t *testing.T) map[string]map[string]any {
	t.Helper()
	files, err := filepath.Glob(root + "shared/webhook/testdata/*.json")
	must(t, err)
	if len(files) < len(webhook.Catalogue()) {
		t.Fatalf("%d bodies for %d types", len(files), len(webhook.Catalogue()))
	}
	bodies := map[string]map[string]any{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		var body map[string]any
		must(t, json.Unmarshal(text, &body))
		bodies[filepath.Base(file)] = body
	}
	return bodies
}

func TestWhatCustomersReceiveIsAsTheSchemasSay(t *testing.T) {
	t.Parallel()
	described := document(t)
	for name, body := range golden(t) {
		for _, k := range webhook.Catalogue() {
			wrong := problems(described, messageOf(described, k.Type)["payload"], body)
			if isOwn := body["type"] == string(k.Type); isOwn != (len(wrong) == 0) {
				t.Errorf("%s as a %s: %v", name, k.Type, wrong)
			}
		}
	}
}

// Every member of a body with all its members is described, and can be gone only if the schema says so.
func TestTheSchemasKnowEveryMember(t *testing.T) {
	t.Parallel()
	described := document(t)
	optional := map[string][]string{
		"patient.ehi_export_success":     {"download_link"},
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
		schema := messageOf(described, k.Type)["payload"]
		var got []string
		for name, value := range data {
			if hasMember(described, schema, name) != true {
				t.Errorf("%s: %s is not described", k.Type, name)
			}
			delete(data, name)
			if len(problems(described, schema, body)) == 0 {
				got = append(got, name)
			}
			data[name] = []any{"nothing has a list of texts"}
			if len(problems(described, schema, body)) == 0 {
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

func hasMember(described map[string]any, payload any, name string) bool {
	parts := payload.(map[string]any)["allOf"].([]any)
	to := lookUp(parts[1].(map[string]any), "#/properties/data/$ref").(string)
	return lookUp(described, to+"/properties/"+name) != nil
}

func TestWhatIsWrongIsRefused(t *testing.T) {
	t.Parallel()
	described := document(t)
	tests := map[string]struct {
		file  string
		spoil func(body, data map[string]any)
	}{
		"another status":           {"patient.connection_success.json", func(_, d map[string]any) { d["connection_status"] = "revoked" }},
		"a revocation that is not": {"patient.authorization_revoked.json", func(_, d map[string]any) { d["connection_status"] = "authorized" }},
		"another reason":           {"patient.ehi_export_failed.json", func(_, d map[string]any) { d["failure_reason"] = "bad_luck" }},
		"no brand":                 {"patient.connection_success.json", func(_, d map[string]any) { delete(d, "brand_id") }},
		"another TEFCA scope":      {"patient.connection_success-tefca.json", func(_, d map[string]any) { d["scope"] = "openid" }},
		"no TEFCA scope":           {"patient.connection_success-tefca.json", func(_, d map[string]any) { delete(d, "scope") }},
		"no TEFCA directory":       {"patient.connection_success-tefca.json", func(_, d map[string]any) { delete(d, "tefca_directory_id") }},
		"a first progress of 0":    {"patient.ehi_export_progress.json", func(_, d map[string]any) { d["sequence"] = 0 }},
		"no link":                  {"patient.ehi_export_success.json", func(_, d map[string]any) { d["download_links"] = []any{} }},
		"half a resource": {"patient.ehi_export_success.json", func(_, d map[string]any) {
			d["stats"].(map[string]any)["total_by_resource_type"].(map[string]any)["Patient"] = 0.5
		}},
		"a day without a time": {"patient.authorization_expiring.json", func(_, d map[string]any) { d["consent_expires_at"] = "2030-01-08" }},
		"an id that is none":   {"webhook.test.json", func(b, _ map[string]any) { b["id"] = "1" }},
		"another mode":         {"webhook.test.json", func(b, _ map[string]any) { b["api_mode"] = "demo" }},
		"complete and not":     {"patient.ehi_export_success-incomplete.json", func(_, d map[string]any) { d["complete"] = true }},
		"an unknown reason": {"patient.ehi_export_success-incomplete.json", func(_, d map[string]any) {
			d["missing"].(map[string]any)["Binary"] = "bad_luck"
		}},
		"no date": {"webhook.test.json", func(b, _ map[string]any) { delete(b, "date") }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := golden(t)[test.file]
			schema := messageOf(described, webhook.Type(body["type"].(string)))["payload"]
			test.spoil(body, body["data"].(map[string]any))
			if len(problems(described, schema, body)) == 0 {
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
	must(t, err)
	must(t, yaml.Unmarshal(text, into))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
