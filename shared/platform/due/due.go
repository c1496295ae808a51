// Package due owns the reference to a row that somebody has to act on, what a queue message carries, and the sweep that
// finds such rows. A row is its own timer and outbox (docs/develop/architecture.md, "Data"); a message is only a hint to look
// at it, so it may be lost, late, doubled or forged without harm. It holds ids, never content.
package due

import (
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// LongestDelay is the longest delay of a message (SQS's limit for DelaySeconds). The sweeper sends messages that are
// due later.
const LongestDelay = 15 * time.Minute

// Kind says which row an Item refers to.
type Kind string

// The kinds.
const (
	Task     Kind = "task"
	Event    Kind = "event"
	Delivery Kind = "delivery"
	// Connection: its tokens are to be refreshed, or taken back upstream.
	Connection Kind = "connection"
	// Notice: an e-mail to an organisation is to be sent.
	Notice Kind = "notice"
	// Share: places of a tenant's share of the export workers may be free for exports in line. Its
	// id is the organisation's.
	Share Kind = "share"
	// Attempt: an attempt of TEFCA mode goes on, or its identity is to be forgotten.
	Attempt Kind = "tefca"
)

// Item refers to one row of one tenant.
type Item struct {
	Tenant org.Tenant
	Kind   Kind
	ID     string
	At     time.Time // when somebody has to act; zero in a message
}

type message struct {
	Mode  org.Mode `json:"mode"`
	OrgID string   `json:"org"`
	Kind  Kind     `json:"kind"`
	ID    string   `json:"id"`
}

// Encode writes the body of the queue message that refers to the item.
func (i Item) Encode() (string, error) {
	body, err := json.Marshal(message{Mode: i.Tenant.Mode, OrgID: i.Tenant.OrgID, Kind: i.Kind, ID: i.ID})
	if err != nil {
		return "", errors.New("encode message")
	}
	return string(body), nil
}

// Decode reads the body of a queue message. An error means that it will never be readable.
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

// LogAttrs tell on a log line whose row it is, and which.
func (i Item) LogAttrs() []slog.Attr {
	return []slog.Attr{
		slog.String("org_id", i.Tenant.OrgID), slog.String("mode", string(i.Tenant.Mode)),
		slog.String(string(i.Kind)+"_id", i.ID),
	}
}

// parseID reads an id in the spelling that rows of the kind have in their keys.
func (k Kind) parseID(text string) (id string, ok bool) {
	switch k {
	case Task:
		return ids.ParseTask(text)
	case Event, Delivery, Connection, Notice, Share, Attempt:
		return ids.ParseUUID(text)
	}
	return "", false
}
