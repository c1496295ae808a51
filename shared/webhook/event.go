package webhook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Type is the name of an event type (docs/guide/webhook-reference.md, Events).
type Type string

// Event types, which Catalogue describes.
const (
	ExportSucceeded       Type = "patient.ehi_export_success"
	ExportFailed          Type = "patient.ehi_export_failed"
	TestEvent             Type = "webhook.test"
	ConnectionSucceeded   Type = "patient.connection_success"
	AuthorizationEnded    Type = "patient.authorization_revoked"
	HealthSystemRequested Type = "patient.request_health_system"
	SupportRequested      Type = "patient.request_support"
	// Extension event types (docs/reference/deviations.md, Webhooks), which are off by default.
	ConnectionFailed    Type = "patient.connection_failed"
	AuthorizationEnding Type = "patient.authorization_expiring"
	ExportProgressed    Type = "patient.ehi_export_progress"
)

// Event holds an event and its serialised form, which never changes between attempts.
type Event struct {
	ID        string // a UUIDv5, so one occurrence can't produce two events
	Tenant    org.Tenant
	Type      Type
	Body      []byte // body as stored; Wire returns the bytes to send
	CreatedAt time.Time
	FannedOut bool // whether the event's deliveries have been created
}

// envelope is the JSON body of every webhook (docs/reference/deviations.md, Webhooks).
type envelope struct {
	APIMode org.Mode `json:"api_mode"`
	Date    string   `json:"date"`
	ID      string   `json:"id"`
	Type    Type     `json:"type"`
	Data    any      `json:"data"`
}

// EventID returns an event's ID, a UUIDv5 derived from the mode, organisation, type, subject and number
// (docs/reference/deviations.md, Webhooks).
func EventID(tenant org.Tenant, t Type, subject string, number int64) string {
	return ids.Derive("event", tenant.Key(), string(t), subject, strconv.FormatInt(number, 10))
}

// NewEvent returns an event of type t about subject at date. number distinguishes events of the same type about the
// same subject, such as a task's repeated events. NewEvent fails only if data can't be encoded.
func NewEvent(tenant org.Tenant, t Type, subject string, number int64, date time.Time, data any) (Event, error) {
	id := EventID(tenant, t, subject, number)
	body, err := json.Marshal(envelope{
		APIMode: tenant.Mode, Date: date.UTC().Format(time.RFC3339Nano), ID: id, Type: t, Data: data,
	})
	if err != nil {
		return Event{}, fmt.Errorf("encode event %s: %w", t, err)
	}
	return Event{ID: id, Tenant: tenant, Type: t, Body: body, CreatedAt: date}, nil
}

// Subjects returns the connection and the export, if any, that the event is about.
func (e Event) Subjects() []string {
	connection, task := e.subjects()
	return slices.DeleteFunc([]string{connection, task}, func(id string) bool { return id == "" })
}

// ConnectionID returns the ID of the connection that the event is about, or "".
func (e Event) ConnectionID() string {
	connection, _ := e.subjects()
	return connection
}

func (e Event) subjects() (connection, task string) {
	var body struct {
		Data struct {
			OrgConnectionID string `json:"org_connection_id"`
			TaskID          string `json:"task_id"`
		} `json:"data"`
	}
	if json.Unmarshal(e.Body, &body) != nil {
		return "", ""
	}
	return body.Data.OrgConnectionID, body.Data.TaskID
}
