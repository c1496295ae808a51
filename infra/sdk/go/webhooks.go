package recordbridge

import (
	"encoding/json"
	"errors"
	"net/http"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"recordbridge/infra/sdk/go/api"
)

// Event is an event of a webhook or of the API's list of events.
type Event struct {
	ID   string
	Type api.EventType
	// Value is the event as the generated type of its Type, such as api.ExportSuccessEvent. It is nil if this version
	// of the SDK can't read the event.
	Value any
	// Raw is the event's JSON.
	Raw json.RawMessage
}

// VerifyWebhook verifies a webhook request and returns its event. Pass the body as received. The error wraps one of
// standardwebhooks' errors, such as ErrNoMatchingSignature, if no signature is valid or the request is older than five
// minutes.
func VerifyWebhook(body []byte, headers http.Header, secret string) (Event, error) {
	// With an empty key, anybody could sign.
	if secret == "" || secret == "whsec_" {
		return Event{}, errors.New("recordbridge: the webhook's secret is empty")
	}
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return Event{}, err
	}
	if err := webhook.Verify(body, headers); err != nil {
		return Event{}, err
	}
	var event Event
	if err := json.Unmarshal(body, &event); err != nil {
		return Event{}, err
	}
	return event, nil
}

// UnmarshalJSON reads an event.
func (e *Event) UnmarshalJSON(body []byte) error {
	var fields struct {
		ID   string        `json:"id"`
		Type api.EventType `json:"type"`
	}
	if err := json.Unmarshal(body, &fields); err != nil {
		return err
	}
	*e = Event{ID: fields.ID, Type: fields.Type, Raw: append(json.RawMessage(nil), body...)}
	var union api.Event
	if err := union.UnmarshalJSON(body); err != nil {
		return err
	}
	// A later version of the API can add types and values.
	if value, err := union.ValueByDiscriminator(); err == nil {
		e.Value = value
	}
	return nil
}
