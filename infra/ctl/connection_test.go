package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/local/faults"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Stored values that must never be printed.
const (
	privateToken    = "sealed-token-of-a-patient"
	privatePatient  = "hash-of-a-patient-id"
	privateExternal = "external-id-of-a-patient"
	privateKey      = "place-of-a-file"
)

// patients stores an organisation's connections and exports as the functions do.
type patients struct {
	stored

	tenant   org.Tenant
	endpoint string
}

// table returns the name of a table that the stack's outputs omit because operators don't use it.
func (p patients) table(name string) string {
	return strings.Replace(p.outputs["WorkTable"], "Work", name, 1)
}

func (p patients) tables() (store.Conclusions, store.Register) {
	db := dynamodb.NewFromConfig(p.config)
	links := store.Connections{DB: db, Table: p.outputs["ConnectionTable"]}
	return store.NewConclusions(store.Flow{DB: db, Table: p.table("Flow")}, links,
			store.Tokens{DB: db, Table: p.table("Tokens")}, store.Events(p.work())),
		store.NewRegister(p.work(), links)
}

func (p patients) connect(t *testing.T, set func(c *connection.Connection)) string {
	t.Helper()
	now := time.Now()
	c := connection.Connection{
		ID: ids.Random(), Tenant: p.tenant, Status: connection.Authorized, EndpointID: p.endpoint, PlatformType: "smart",
		Generation: 1, CreatedAt: now,
		Patient: secret.Mark{Version: 1, Sum: []byte(privatePatient)},
		Refresh: connection.RefreshState{RefreshAt: now.Add(time.Hour)},
	}
	set(&c)
	attempt := flow.Attempt{
		ID: ids.Random(), Tenant: p.tenant, Status: flow.Open, CreatedAt: now,
		ExpiresAt:   now.Add(time.Hour),
		Requester:   flow.Requester{ExternalID: privateExternal, ExternalState: privateExternal},
		Institution: flow.Institution{EndpointID: p.endpoint},
	}
	conclusions, _ := p.tables()
	expect.NoError(t, conclusions.BeginAttempt(t.Context(), attempt,
		binding.State{Hash: ids.Random(), Tenant: p.tenant, AttemptID: attempt.ID, ExpiresAt: now.Add(time.Hour)}))
	expect.NoError(t, conclusions.ConcludeAttempt(t.Context(), flow.Conclusion{
		Attempt: attempt, Connection: c, Tokens: tokens.Row{
			Tenant: p.tenant, ConnectionID: c.ID,
			Sealed: []byte(privateToken), Version: 1,
		},
	}))
	return c.ID
}

// export stores an export task. If end is not nil, the task ends with the state and event that it returns; otherwise it
// stays pending.
func (p patients) export(t *testing.T, id string, end func(task export.Task) (export.Task, webhook.Event)) string {
	t.Helper()
	_, register := p.tables()
	task := export.Task{
		ID: ids.TaskID(ids.Random()), Tenant: p.tenant, ConnectionID: id, Status: export.Pending,
		CreatedAt: time.Now(),
	}
	expect.NoError(t, register.OpenTask(t.Context(), task, ""))
	if end == nil {
		return task.ID
	}
	claimed, err := register.ClaimTask(t.Context(), p.tenant, task.ID, time.Now(), time.Now().Add(time.Minute))
	expect.NoError(t, err)
	ended, event := end(claimed)
	expect.NoError(t, register.FinishTask(t.Context(), ended, event))
	return task.ID
}

func (p patients) line(t *testing.T, task string, since time.Time) {
	t.Helper()
	claimed, err := store.Tasks(p.work()).ClaimTask(t.Context(), p.tenant, task, since, since.Add(time.Minute))
	expect.NoError(t, err)
	expect.NoError(t, store.Tasks(p.work()).JoinLine(t.Context(), claimed, since))
}

func withPatients(t *testing.T) (string, *recording, patients) {
	t.Helper()
	outputs, sent := newRecordedStack(t, "")
	done := doer(t, outputs)
	id, _ := done("organisation", "create", "-name", "Alder Clinic App", "-email", "ops@app.example")["id"].(string)
	at, _ := done("endpoint", "create", "-mode", "test", "-fhir-base", nowhere, "-unpinned", "-client-id", "client",
		"-scope", "openid",
		"-name", "Alder Hospital")["endpoint_id"].(string)
	return outputs, sent, patients{
		stored: openStored(t, outputs), tenant: org.Tenant{Mode: org.Test, OrgID: id},
		endpoint: at,
	}
}

// matter runs a command with the organisation's flags and returns its output. It fails the test if the output contains
// private data.
func (p patients) matter(t *testing.T, outputs string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), append(append([]string{"-outputs", outputs}, args...), "-org", p.tenant.OrgID, "-mode",
		"test"), to(&out))
	all := out.String() + fmt.Sprint(err)
	for _, private := range []string{privateToken, privatePatient, privateExternal, privateKey, "ops@app.example"} {
		if shows(all, private) || strings.Contains(all, "://") {
			t.Errorf("%v printed %q or an address: %s", args, private, all)
		}
	}
	return out.String(), err
}

func (p patients) tells(t *testing.T, outputs string, args []string, want ...string) {
	t.Helper()
	printed, err := p.matter(t, outputs, args...)
	for _, part := range want {
		if err != nil || !strings.Contains(printed, part) {
			t.Errorf("%v: no %s in %s (%v)", args, part, printed, err)
		}
	}
}

func TestConnectionShowExplainsFailure(t *testing.T) {
	outputs, sent, p := withPatients(t)
	of := "-org " + p.tenant.OrgID + " -mode test"
	well := p.connect(t, func(*connection.Connection) {})
	failing := p.connect(t, func(c *connection.Connection) {
		c.Refresh.Failures, c.Refresh.FailureClass = 2,
			"server_fault"
	})
	ended := p.connect(t, func(c *connection.Connection) {
		c.Status, c.Refresh = connection.Revoked,
			connection.RefreshState{Ended: "invalid_grant", EndedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	})
	task := p.export(t, well, func(task export.Task) (export.Task, webhook.Event) {
		task, event, err := task.Fail(export.ScopePatientMissing, time.Now())
		expect.NoError(t, err)
		return task, event
	})
	before := sent.all()
	p.tells(t, outputs, []string{"connection", "show", "-id", well}, `"organisation": "Alder Clinic App"`,
		`"endpoint": "Alder Hospital"`, `"status": "authorized"`,
		`"due_at"`, `"failures": 0`, `"task_id": "`+task, `"reason": "scope_patient_missing"`,
		"ctl export show "+of+" -id "+task)
	p.tells(t, outputs, []string{"connection", "show", "-id", failing}, `"failures": 2`,
		`"failure_class": "server_fault"`,
		"ctl endpoint test -id "+p.endpoint+" "+of+" -token-request")
	p.tells(t, outputs, []string{"connection", "show", "-id", ended}, `"ended": "invalid_grant"`,
		`"ended_at": "2026-03-04T05:06:07Z"`, "ave the patient reconnect")
	p.tells(t, outputs, []string{"connection", "list", "-endpoint", p.endpoint, "-status", "revoked"}, `"id": "`+ended,
		`"next": ""`)
	if printed, _ := p.matter(t, outputs, "connection", "list", "-status", "revoked"); strings.Contains(printed, well) {
		t.Errorf("of the revoked ones: %s", printed)
	}
	if asked := strings.TrimPrefix(sent.all(), before); strings.Contains(asked, p.table("Tokens")) ||
		strings.Contains(asked, "PutItem") {
		t.Errorf("asked for tokens, or wrote: %s", asked)
	}
	for flag, args := range map[string][]string{
		"-id": {"connection", "show", "-id", task}, "-after": {"connection", "list", "-after", "x"},
		"-limit":  {"connection", "list", "-limit", "101"},
		"-status": {"connection", "list", "-status", "active"},
	} {
		if _, err := p.matter(t, outputs, args...); err == nil || !strings.HasPrefix(err.Error(), flag+": ") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestExportShowReportsPartyResponsibleForFailure(t *testing.T) {
	outputs, _, p := withPatients(t)
	for asked, want := range map[string]string{"openid patient/Account.rs": "registration", "patient/*.rs": "patient"} {
		task := p.export(t, p.connect(t, func(*connection.Connection) {}),
			func(task export.Task) (export.Task, webhook.Event) {
				task.Scope = export.Scope{Asked: asked, Granted: "patient/Account.rs"}
				task, event, err := task.Fail(export.ScopePatientMissing, time.Now())
				expect.NoError(t, err)
				return task, event
			})
		p.tells(t, outputs, []string{"export", "show", "-id", task}, `"caused_by": "`+want+`"`, `"asked": "`+asked+`"`)
	}
}

func TestExportShowExplainsFailure(t *testing.T) {
	outputs, sent, p := withPatients(t)
	failed := p.export(t, p.connect(t, func(*connection.Connection) {}),
		func(task export.Task) (export.Task, webhook.Event) {
			task.Outcome = []export.TypeOutcome{{
				Type: "Observation", Result: export.OutcomeFailed, Status: 503,
				Reason: export.LossUnavailable,
			}}
			task, event, err := task.Fail(export.SuppressedPleaseContact, time.Now())
			expect.NoError(t, err)
			return task, event
		})
	whole := p.export(t, p.connect(t, func(*connection.Connection) {}),
		func(task export.Task) (export.Task, webhook.Event) {
			task.Status, task.FinishedAt, task.FilesUntil = export.Success, time.Now(), time.Now().Add(time.Hour)
			task.Progress = webhook.Progress{Resources: 12, Bytes: 3456}
			task.Files = []export.File{{Name: "alder.jsonl", Key: privateKey, Bytes: 3456, SHA256: "abc"}}
			event, err := webhook.NewEvent(p.tenant, webhook.ExportSucceeded, task.ID, 0, time.Now(), webhook.ExportSuccess{})
			expect.NoError(t, err)
			return task, event
		})
	waiting := p.export(t, p.connect(t, func(*connection.Connection) {}), nil)
	since := time.Now().Add(-time.Minute).UTC().Truncate(time.Second)
	p.line(t, waiting, since)
	damaged := p.export(t, p.connect(t, func(*connection.Connection) {}), nil)
	p.damage(t, "WorkTable", p.tenant.Key()+"#TASK#"+damaged, "META", "options")
	hook := p.deliver(t, outputs, webhook.EventID(p.tenant, webhook.ExportFailed, failed, 0))

	p.tells(t, outputs, []string{"export", "show", "-id", failed}, `"reason": "suppressed_please_contact"`,
		`"http_status": 503`, `"Observation": "unavailable"`,
		`"complete": false`, `"event_id"`, `"status": "exhausted"`, "ctl endpoint test -id "+p.endpoint)
	p.tells(t, outputs, []string{"export", "show", "-id", whole}, `"status": "success"`, `"complete": true`,
		`"resources": 12`, `"file_name": "alder.jsonl"`, `"until"`, `"do": "Nothing."`)
	p.tells(t, outputs, []string{"export", "show", "-id", damaged}, `"row": "TASK"`, `"operation": "decode"`,
		`"attribute": "options"`, `"status": "pending"`, "repair that attribute")
	p.tells(t, outputs, []string{"export", "show", "-id", waiting}, `"waiting_since": "`+since.Format(time.RFC3339),
		`"status": "pending"`)
	p.tells(t, outputs, []string{"export", "list"}, failed, whole, waiting,
		`"waiting_since": "`+since.Format(time.RFC3339), damaged, `"attribute": "options"`)
	if printed, _ := p.matter(t, outputs, "export", "list", "-status", "failed"); !strings.Contains(printed, failed) ||
		strings.Contains(printed, whole) {
		t.Errorf("of the failed ones: %s", printed)
	}
	if _, err := p.matter(t, outputs, "export", "show", "-id", "x"); err == nil ||
		!strings.HasPrefix(err.Error(), "-id: ") {
		t.Errorf("an id that is none: %v", err)
	}
	p.damage(t, "ControlTable", p.tenant.Key()+"#HOOKS", "HOOK#"+hook, "types")
	p.tells(t, outputs, []string{"export", "show", "-id", failed}, `"reason": "suppressed_please_contact"`,
		`"row": "HOOKS"`, `"attribute": "types"`)
	if _, err := p.matter(t, outputs, "webhook", "list"); err == nil ||
		!strings.HasPrefix(err.Error(), "attribute types of row HOOKS can't be read (decode)") {
		t.Errorf("a list with a damaged row: %v", err)
	}
	p.damage(t, "WorkTable", p.tenant.Key()+"#TASK#"+whole, "META", "outcome")
	if printed, err := p.matter(t, outputs, "export", "show", "-id", whole); err != nil ||
		strings.Contains(printed, "complete") || !strings.Contains(printed, "alder.jsonl") {
		t.Errorf("where nobody knows what is missing: %s (%v)", printed, err)
	}
	table := p.outputs["WorkTable"]
	expect.NoError(t,
		sent.faults.Set([]faults.Fault{{
			Caller: "operator", Service: "dynamodb", Operation: "GetItem", Name: table,
			Kind: "throttled",
		}}))
	_, err := p.matter(t, outputs, "export", "show", "-id", failed)
	if err == nil || exitCode(err) != 1 || !strings.Contains(err.Error(), "table "+table+", GetItem: ") ||
		!strings.Contains(err.Error(), "try again in a moment") {
		t.Errorf("throttled: %v, exit code %d", err, exitCode(err))
	}
}

// damage makes one of a row's attributes unreadable.
func (p patients) damage(t *testing.T, table, pk, sk, attribute string) {
	t.Helper()
	_, err := dynamodb.NewFromConfig(p.config).UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: new(p.outputs[table]), UpdateExpression: new("SET #a = :broken"),
		ExpressionAttributeNames: map[string]string{"#a": attribute},
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk},
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":broken": &types.AttributeValueMemberS{Value: `{"since":`},
		},
	})
	expect.NoError(t, err)
}

// deliver creates a webhook, stores a failed delivery of the event to it, and returns the webhook's ID.
func (p patients) deliver(t *testing.T, outputs, eventID string) string {
	t.Helper()
	hook, _ := doer(t, outputs)("webhook", "create", "-org", p.tenant.OrgID, "-mode", "test", "-url",
		"https://app.example/hook")["id"].(string)
	event, err := store.Events(p.work()).Event(t.Context(), p.tenant, eventID)
	expect.NoError(t, err)
	expect.NoError(t, store.Events(p.work()).FanOut(t.Context(), event, []webhook.Delivery{{
		ID: webhook.DeliveryID(eventID, hook), Tenant: p.tenant, EventID: eventID, SubscriptionID: hook,
		Status: webhook.Exhausted, CreatedAt: time.Now(),
	}}))
	return hook
}
