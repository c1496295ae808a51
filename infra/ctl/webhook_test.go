package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/adapters/store"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

func (s stored) work() store.Work {
	return store.Work{DB: dynamodb.NewFromConfig(s.config), Table: s.outputs["WorkTable"]}
}

// listed returns the rows of a tenant's list from the Work table.
func (s stored) listed(t *testing.T, tenant org.Tenant, list string) []map[string]types.AttributeValue {
	t.Helper()
	db := dynamodb.NewFromConfig(s.config)
	out, err := db.Query(t.Context(), &dynamodb.QueryInput{
		TableName: new(s.outputs["WorkTable"]), IndexName: new("byOrg"), KeyConditionExpression: new("org_list = :list"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":list": &types.AttributeValueMemberS{Value: tenant.Key() + "#" + list},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]map[string]types.AttributeValue, 0, len(out.Items))
	for _, item := range out.Items { // index items contain only keys
		row, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: new(s.outputs["WorkTable"]), Key: map[string]types.AttributeValue{"pk": item["pk"], "sk": item["sk"]},
		})
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row.Item)
	}
	return rows
}

func webhooks(t *testing.T, outputs, organisation string) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-outputs", outputs, "webhook", "list", "-org", organisation},
		to(&out)); err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestWebhookCommandsNeverDiscloseStoredSecrets(t *testing.T) {
	outputs, sent := newRecordedStack(t, "")
	done := doer(t, outputs)
	id, _ := done("organisation", "create", "-without-live", "-name", "Alder Clinic App", "-email",
		"ops@app.example")["id"].(string)
	tenant := org.Tenant{Mode: org.Test, OrgID: id}
	const header = "Bearer value-of-Alder Clinic"
	made, err := ctlWith(t, outputs, "authorization="+header+"\r\nX-Team=a=b\n", "webhook", "create", "-org", id,
		"-url", "https://app.example/hook?key=in-the-query", "-type", "patient.connection_success", "-rate", "5",
		"-signing-key", "-header-file", "-")
	if err != nil {
		t.Fatal(err)
	}
	hook, _ := made["id"].(string)
	first, _ := made["secret"].(string)
	public, _ := made["public_key"].(string)
	if !strings.HasPrefix(first, "whsec_") || !strings.HasPrefix(public, "whpk_") || made["rate"] != 5.0 ||
		fmt.Sprint(made["headers"]) != "[Authorization X-Team]" || fmt.Sprint(made["types"]) !=
		"[patient.ehi_export_success patient.ehi_export_failed webhook.test patient.connection_success]" {
		t.Errorf("the webhook is %v", made)
	}
	second, _ := done("webhook", "rotate", "-yes", "-org", id, "-id", hook)["secret"].(string)
	if ends, _ := webhooks(t, outputs, id)[0]["old_secrets_end"].([]any); len(ends) != 1 {
		t.Errorf("old secrets end at %v, want one", ends)
	}
	last := done("webhook", "rotate", "-yes", "-org", id, "-id", hook, "-expire-now")
	third, _ := last["secret"].(string)
	if ends, _ := last["old_secrets_end"].([]any); len(ends) != 0 || first == second || second == third {
		t.Errorf("the second rotation gave %v", last)
	}
	if narrowed := done("webhook", "set", "-org", id, "-id", hook, "-type",
		"patient.authorization_revoked"); fmt.Sprint(narrowed["types"]) !=
		"[patient.ehi_export_success patient.ehi_export_failed webhook.test patient.authorization_revoked]" {
		t.Errorf("the types are %v", narrowed)
	}
	if shown := done("webhook", "show", "-org", id, "-id", hook); len(shown["types"].([]any)) != 4 {
		t.Errorf("asked without a change, the types are %v", shown)
	}
	record, rows := sent.all(), webhooks(t, outputs, id)
	for _, secret := range []string{header, first, second, third} {
		if shows(record, secret) || strings.Contains(fmt.Sprint(rows), secret) {
			t.Error("a secret was listed or left the command unsealed")
		}
	}
	if len(rows) != 1 || rows[0]["public_key"] != public || rows[0]["old_secrets_end"] != nil {
		t.Errorf("listed %v", rows)
	}
	if shown := done("webhook", "set", "-org", id, "-id", hook, "-no-types"); len(shown["types"].([]any)) != 3 {
		t.Errorf("with none the types are %v", shown)
	}
	want := []string{
		"webhook.created " + hook, "webhook.rotated " + hook, "webhook.rotated " + hook, "webhook.changed " + hook,
		"webhook.changed " + hook,
	}
	if got := openStored(t, outputs).audited(t, tenant); !slices.Equal(got, want) {
		t.Errorf("the audit rows are %q, want %q", got, want)
	}
}

func TestOrganisationEmailsSetsNoticeRecipients(t *testing.T) {
	outputs, sent := newRecordedStack(t, "")
	done := doer(t, outputs)
	for _, test := range []struct{ emails, want []string }{{}, {[]string{"-email", "ops@app.example"}, []string{
		"credential_created", "webhook_created", "key_created", "webhook_secret_rotated", "webhook_secret_rotated",
		"webhook_moved", "webhook_disabled",
	}}} {
		args := append([]string{"organisation", "create", "-without-live", "-name", "Alder Clinic App"}, test.emails...)
		id, _ := done(args...)["id"].(string)
		credential := done("credential", "create", "-org", id, "-redirect", "https://app.example/return")
		hook := done("webhook", "create", "-org", id, "-url", "https://app.example/hook?key=in-the-query")
		added := done("credential", "add-key", "-public-id", fmt.Sprint(credential["public_id"]))
		done("webhook", "rotate", "-yes", "-org", id, "-id", fmt.Sprint(hook["id"]))
		rotated := done("webhook", "rotate", "-yes", "-org", id, "-id", fmt.Sprint(hook["id"]))
		done("webhook", "set", "-org", id, "-id", fmt.Sprint(hook["id"]), "-url",
			"https://app.example/hook-b?key=in-the-query")
		done("webhook", "disable", "-org", id, "-id", fmt.Sprint(hook["id"]))
		rows := openStored(t, outputs).listed(t, org.Tenant{Mode: org.Test, OrgID: id}, "NOTICE")
		got := make([]string, 0, len(rows))
		for _, row := range rows {
			kind, _ := row["kind"].(*types.AttributeValueMemberS)
			got = append(got, kind.Value)
			text := fmt.Sprint(row)
			for _, secret := range []any{credential["private_key"], hook["secret"], added["private_key"], rotated["secret"]} {
				if shows(text, fmt.Sprint(secret)) || strings.Contains(text, "in-the-query") || row["due_at"] == nil {
					t.Errorf("the notice is %s", text)
				}
			}
			if url, ok := row["url"].(*types.AttributeValueMemberS); ok && url.Value != "https://app.example/hook" &&
				url.Value != "https://app.example/hook-b" {
				t.Errorf("the notice shows %s", url.Value)
			}
		}
		if !slices.Equal(got, test.want) || strings.Count(sent.all(), `\"kind\":\"notice\"`) != len(test.want) {
			t.Errorf("with %q: notices %q, want %q, each with a message", test.emails, got, test.want)
		}
	}
}

func TestWebhookCreateUsesDefaultTypesUnlessSpecified(t *testing.T) {
	outputs := newStack(t)
	done := doer(t, outputs)
	id, _ := done("organisation", "create", "-without-live", "-name", "Alder Clinic App")["id"].(string)
	create := func(args ...string) int {
		types, _ := done(append([]string{"webhook", "create", "-org", id, "-url", "https://app.example/hook"},
			args...)...)["types"].([]any)
		return len(types)
	}
	if got, want := create(), len(webhook.Required())+len(webhook.Default()); got != want {
		t.Errorf("%d types by default, want %d", got, want)
	}
	if got, want := create("-type", "webhook.test"), len(webhook.Required()); got != want {
		t.Errorf("%d types, want the %d required ones", got, want)
	}
}

// deliver stores a delivery. Deliveries with consecutive numbers are one hour apart.
func (s stored) deliver(t *testing.T, tenant org.Tenant, hook string, number int,
	status webhook.DeliveryStatus,
) string {
	t.Helper()
	at := time.Now().Add(time.Duration(number-100) * time.Hour)
	event, err := webhook.NewEvent(tenant, webhook.TestEvent, "subject", int64(number), at, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := webhook.Delivery{
		ID: ids.Derive(hook, event.ID), Tenant: tenant, EventID: event.ID, SubscriptionID: hook, Status: status, Attempt: 1,
		Fence: 1, CreatedAt: at,
	}
	if err := store.Events(s.work()).CreateEvent(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	if err := store.Events(s.work()).FanOut(t.Context(), event, []webhook.Delivery{d}); err != nil {
		t.Fatal(err)
	}
	return d.ID
}

func TestWebhookReplayResendsMissedEventsAfterEnable(t *testing.T) {
	outputs := newStack(t)
	done := doer(t, outputs)
	found := openStored(t, outputs)
	id, _ := done("organisation", "create", "-without-live", "-name", "Alder Clinic App")["id"].(string)
	tenant := org.Tenant{Mode: org.Test, OrgID: id}
	hook, _ := done("webhook", "create", "-org", id, "-url", "https://app.example/hook")["id"].(string)
	other, _ := done("webhook", "create", "-org", id, "-url", "https://app.example/other")["id"].(string)
	statuses := []webhook.DeliveryStatus{
		webhook.Exhausted, webhook.Delivered, webhook.Exhausted, webhook.Held,
		webhook.Scheduled,
	}
	all := make([]string, 0, len(statuses))
	for i, status := range statuses {
		all = append(all, found.deliver(t, tenant, hook, i, status))
	}
	found.deliver(t, tenant, other, 9, webhook.Held)
	at := time.Now().Add(-time.Hour)
	hooks := store.Hooks(found.control)
	if err := hooks.DisableSubscription(t.Context(), tenant, hook, webhook.ReasonGone, at); err != nil {
		t.Fatal(err)
	}
	// a time between the first two deliveries, even on a slow machine
	since := time.Now().Add(-99*time.Hour - 30*time.Minute).Format(time.RFC3339)
	replay := []string{"webhook", "replay", "-org", id, "-id", hook, "-failed-since", since}
	if _, err := ctl(t, outputs, replay...); err == nil || !strings.Contains(err.Error(), "Enable it first") {
		t.Errorf("a replay to a disabled webhook: %v", err)
	}
	enabled := done("webhook", "enable", "-org", id, "-id", hook)
	oldest, err := store.Deliveries(found.work()).Delivery(t.Context(), tenant, all[0])
	if err != nil || enabled["missed_since"] != oldest.CreatedAt.Format(time.RFC3339Nano) {
		t.Errorf("enabling gave %v (%v), want that the oldest is of %v", enabled, err, oldest.CreatedAt)
	}
	if _, err := ctl(t, outputs, "webhook", "enable", "-org", id, "-id", hook); err == nil {
		t.Error("enabled twice")
	}
	if got := done(replay...)["replayed"]; got != 2.0 {
		t.Errorf("%v were replayed, want the one that failed since and the held one", got)
	}
	if got := done("webhook", "replay", "-org", id, "-id", hook, "-from",
		time.Now().Add(-200*time.Hour).Format(time.RFC3339), "-to", since)["replayed"]; got != 1.0 {
		t.Errorf("%v were replayed of the range, want the first", got)
	}
	if got := done("webhook", "replay", "-org", id, "-delivery", all[1])["replayed"]; got != 1.0 {
		t.Errorf("%v were replayed, want 1", got)
	}
	for i, delivery := range all {
		d, err := store.Deliveries(found.work()).Delivery(t.Context(), tenant, delivery)
		if err != nil || d.Status != webhook.Scheduled {
			t.Errorf("delivery %d is %s (%v)", i, d.Status, err)
		}
	}
}

func TestWebhookLogFiltersAndShowsDeliveries(t *testing.T) {
	outputs := newStack(t)
	done := doer(t, outputs)
	found := openStored(t, outputs)
	id, _ := done("organisation", "create", "-without-live", "-name", "Alder Clinic App")["id"].(string)
	tenant := org.Tenant{Mode: org.Test, OrgID: id}
	hook, _ := done("webhook", "create", "-org", id, "-url", "https://app.example/hook")["id"].(string)
	kept := make([]string, 0, 2)
	for i, status := range []webhook.DeliveryStatus{webhook.Delivered, webhook.Scheduled} {
		kept = append(kept, found.deliver(t, tenant, hook, i, status))
	}
	rows := func(args ...string) []any {
		all, _ := done(append([]string{"webhook", "log", "-org", id}, args...)...)["deliveries"].([]any)
		return all
	}
	if got := rows("-id", hook); len(got) != 2 {
		t.Fatalf("the log has %v, want two", got)
	}
	if newest, _ := rows("-limit",
		"1")[0].(map[string]any); newest["id"] != kept[1] || newest["type"] != "webhook.test" ||
		newest["next_at"] == nil {
		t.Errorf("the newest is %v", newest)
	}
	if got := rows("-status", "delivered"); len(got) != 1 {
		t.Errorf("delivered are %v, want one", got)
	}
	if got := rows("-mode", "live"); len(got) != 0 {
		t.Errorf("in the other mode are %v", got)
	}
	shown := done("webhook", "show", "-org", id, "-delivery", kept[0])
	if body, _ := shown["body"].(string); !strings.Contains(body, `"type":"webhook.test"`) ||
		shown["status"] != "delivered" {
		t.Errorf("the delivery is %v", shown)
	}
	for _, args := range [][]string{
		{"webhook", "show", "-org", id, "-mode", "live", "-delivery", kept[0]},
		{"webhook", "log", "-org", id, "-status", "lost"},
		{"webhook", "log", "-org", id, "-limit", "1000"},
		{"webhook", "log", "-org", id, "-after", "x"},
	} {
		if _, err := ctl(t, outputs, args...); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

func TestWebhookSimulateTargetsOneOrAllWebhooks(t *testing.T) {
	outputs, sent := newRecordedStack(t, "")
	done := doer(t, outputs)
	found := openStored(t, outputs)
	id, _ := done("organisation", "create", "-without-live", "-name", "Alder Clinic App")["id"].(string)
	tenant := org.Tenant{Mode: org.Test, OrgID: id}
	hook, _ := done("webhook", "create", "-org", id, "-url", "https://app.example/hook")["id"].(string)
	done("webhook", "create", "-org", id, "-url", "https://app.example/other")
	one, _ := done("webhook", "simulate", "-org", id, "-id", hook, "-type",
		"patient.ehi_export_success")["event_id"].(string)
	event, err := store.Events(found.work()).Event(t.Context(), tenant, one)
	if err != nil || !event.FannedOut || event.Type != webhook.ExportSucceeded ||
		!bytes.Contains(event.Body, []byte("00000000-0000-4000-8000-")) {
		t.Errorf("the event is %s %t %s (%v)", event.Type, event.FannedOut, event.Body, err)
	}
	deliveries := found.listed(t, tenant, "DELIV")
	if len(deliveries) != 1 || len(found.listed(t, tenant, "EVENT")) != 0 {
		t.Fatalf("%d deliveries, want one, and an event that nobody else finds", len(deliveries))
	}
	if to, _ := deliveries[0]["subscription_id"].(*types.AttributeValueMemberS); to.Value != hook ||
		!strings.Contains(sent.all(), `\"kind\":\"delivery\"`) {
		t.Errorf("it goes to %s", to.Value)
	}
	if again := done("webhook", "simulate", "-org", id, "-id", hook, "-type",
		"patient.ehi_export_success")["event_id"]; again == one {
		t.Error("two simulations are one event")
	}
	all, _ := done("webhook", "simulate", "-org", id, "-type", "patient.request_support")["event_id"].(string)
	if event, err = store.Events(found.work()).Event(t.Context(), tenant, all); err != nil || event.FannedOut ||
		len(found.listed(t, tenant, "EVENT")) != 1 {
		t.Errorf("the event for all is settled: %t (%v)", event.FannedOut, err)
	}
}

func TestWebhookErrorsSuggestRemedy(t *testing.T) {
	outputs := newStack(t)
	done := doer(t, outputs)
	id, _ := done("organisation", "create", "-without-live", "-name", "Alder Clinic App")["id"].(string)
	hook, _ := done("webhook", "create", "-org", id, "-url", "https://app.example/hook")["id"].(string)
	unknown := "00000000-0000-4000-8000-000000000000"
	create := "webhook create -org " + id + " -url https://app.example/hook "
	replay := "webhook replay -org " + id + " "
	secrets := writeFile(t, "X-Key=secret-value\nsecret-line")
	for _, test := range []struct{ args, want string }{
		{create + "-rate 0", "-rate must be from 1"},
		{create + "-rate 1001", "from 1 to 1000"},
		{create + "-header-file " + secrets, "line 2 of -header-file"},
		{create + "-header-file " + writeFile(t, "X=1\nX=2"), "repeats a header"},
		{create + "-header-file " + writeFile(t, "Host=secret-value"), "name is not allowed"},
		{create + "-header-file secret-value", "-header-file: can't read the file"},
		{"webhook list -org " + unknown, "not found"},
		{"webhook list -org nobody", "no organisation has this ID or name"},
		{"webhook rotate -org " + id + " -id " + unknown, "not found for"},
		{"webhook rotate -org " + id + " -mode live -id " + hook, "not found for"},
		{"webhook set -org " + id + " -id " + hook + " -type no.such.type", "unknown event type"},
		{"webhook set -no-types -org " + id + " -id " + unknown, "not found for"},
		{"webhook enable -org " + id + " -id " + hook, "not disabled"},
		{"webhook enable -org " + id + " -id " + unknown, "not found for"},
		{replay, "nothing to replay"},
		{replay + "-id " + hook, "nothing to replay"},
		{replay + "-id " + hook + " -from 2026-01-01T00:00:00Z", "nothing to replay"},
		{replay + "-id " + hook + " -delivery " + unknown, "nothing to replay"},
		{
			replay + "-id " + hook + " -failed-since 2026-01-01T00:00:00Z -to 2026-01-01T00:00:00Z",
			"nothing to replay",
		},
		{replay + "-id " + hook + " -failed-since yesterday", "failed-since"},
		{replay + "-id " + unknown + " -failed-since 2026-01-01T00:00:00Z", "not found for"},
		{replay + "-delivery " + unknown, "not found for"},
		{"webhook simulate -org " + id + " -type nothing", "unknown event type"},
		{"webhook simulate -org " + id + " -type webhook.test -id " + unknown, "not found for"},
		{"webhook simulate -org " + id + " -type webhook.test -id=", "-id is empty"},
		{
			"webhook simulate -org " + id + " -type patient.connection_failed -id " + hook,
			"not subscribed to this event type",
		},
		{"webhook simulate -org " + id + " -type patient.connection_failed", "No enabled webhook is subscribed"},
		{"webhook simulate -org " + unknown + " -type webhook.test", "not found"},
	} {
		_, err := ctl(t, outputs, strings.Fields(test.args)...)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(test.want)) ||
			strings.Contains(err.Error(), "secret-") {
			t.Errorf("%s: %v, want %q", test.args, err, test.want)
		}
	}
}
