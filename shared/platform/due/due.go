// Package due defines references to rows that need work, the queue messages that contain these references, and the
// sweep that processes due rows. Each row stores its due time, so rows need neither a timer nor an outbox
// (docs/develop/architecture.md, "Data"). A message only prompts a worker to check a row. It is therefore harmless if a
// message is lost, delayed, duplicated or forged. References contain IDs, never content.
package due

import (
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// LongestDelay is the maximum delay of a message, set by SQS's limit for DelaySeconds. For rows that are due later, the
// sweeper sends the messages.
const LongestDelay = 15 * time.Minute

// Kind is the kind of row that an Item refers to.
type Kind string

// Kinds of rows.
const (
	Task     Kind = "task"
	Event    Kind = "event"
	Delivery Kind = "delivery"
	// Connection refers to a connection whose tokens must be refreshed, or revoked at the portal.
	Connection Kind = "connection"
	// Notice identifies an email that must be sent to an organisation.
	Notice Kind = "notice"
	// Share identifies a tenant whose share of the export workers may have free slots for queued exports. The item's ID
	// is the organisation's ID.
	Share Kind = "share"
	// Attempt identifies a TEFCA attempt that must continue or whose identity data must be deleted.
	Attempt Kind = "tefca"
)

// Item refers to one row of one tenant.
type Item struct {
	Tenant org.Tenant
	Kind   Kind
	ID     string
	At     time.Time // time at which the row is due; zero in messages
}

type message struct {
	Mode  org.Mode `json:"mode"`
	OrgID string   `json:"org"`
	Kind  Kind     `json:"kind"`
	ID    string   `json:"id"`
}

// Encode returns the body of a queue message that refers to the item.
func (i Item) Encode() (string, error) {
	body, err := json.Marshal(message{Mode: i.Tenant.Mode, OrgID: i.Tenant.OrgID, Kind: i.Kind, ID: i.ID})
	if err != nil {
		return "", errors.New("encode message")
	}
	return string(body), nil
}

// Decode parses the body of a queue message. Messages that cause an error must not be retried, because the error is
// permanent.
func Decode(body string) (Item, error) {
	var m message
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return Item{}, errors.New("message is not a JSON object")
	}
	mode, okMode := org.ParseMode(string(m.Mode))
	orgID, okOrg := ids.ParseUUID(m.OrgID)
	id, okID := m.Kind.parseID(m.ID)
	if !okMode || !okOrg || !okID {
		return Item{}, errors.New("message does not refer to a row")
	}
	return Item{Tenant: org.Tenant{Mode: mode, OrgID: orgID}, Kind: m.Kind, ID: id}, nil
}

// LogAttrs returns the log attributes that identify the row and its tenant.
func (i Item) LogAttrs() []slog.Attr {
	return []slog.Attr{
		slog.String("org_id", i.Tenant.OrgID), slog.String("mode", string(i.Tenant.Mode)),
		slog.String(string(i.Kind)+"_id", i.ID),
	}
}

// parseID validates an ID and returns it in the form used in the keys of this kind's rows.
func (k Kind) parseID(text string) (id string, ok bool) {
	switch k {
	case Task:
		return ids.ParseTask(text)
	case Event, Delivery, Connection, Notice, Share, Attempt:
		return ids.ParseUUID(text)
	}
	return "", false
}
