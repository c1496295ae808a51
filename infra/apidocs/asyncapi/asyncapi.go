// Package asyncapi describes the webhooks as AsyncAPI 3.1: what is sent, when, and how it looks, made of the catalogue and
// the Go types of shared/webhook. It owns the words about members and the headers, and nothing that decides what is sent.
// The routes of the HTTP API are docs/openapi.yaml's.
package asyncapi

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

const heading = "# Made by `go run ./infra/apidocs` of the types in shared/webhook. A test fails when it is not what they say.\n"

const about = `Recordbridge sends each event as a POST of JSON to the webhooks of an organisation that are subscribed to its type, and
repeats it until it is answered with 2xx, ten times at most. It can arrive twice and out of order: webhook-id tells.
Members and types that are not described here are to be ignored; there will be more.

How signatures are verified, how to answer, and when a failed event is repeated, stands in webhooks.md beside this file.
`

// Document returns docs/asyncapi.yaml. The error is a payload that this package cannot describe.
func Document() ([]byte, error) {
	s := schemas{glossary: newGlossary(), made: object{{"Headers", headers()}, {"Envelope", envelope()}}}
	var channel, messages object
	for _, kind := range webhook.Catalogue() {
		described, err := message(kind, &s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.Type, err)
		}
		name := string(kind.Type)
		messages = messages.with(name, described)
		channel = channel.with(name, object{{"$ref", "#/components/messages/" + name}})
	}
	if err := s.glossary.complete(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(heading)
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(object{
		{"asyncapi", "3.1.0"},
		{"info", object{
			{"title", "Recordbridge webhooks"},
			{"version", "1.0.11"},
			{"description", about},
			{"contact", object{{"name", "The operator of the stack"}}},
			{"license", object{{"name", "Apache-2.0"}, {"url", "https://www.apache.org/licenses/LICENSE-2.0"}}},
			{"tags", []object{{{"name", "webhooks"}}}},
		}},
		{"defaultContentType", "application/json"},
		{"servers", object{{"receiver", receiver()}}},
		{"channels", object{{"webhook", object{
			{"address", nil},
			{"description", "An address of the organisation's, which it has given when the webhook was made."},
			{"messages", channel},
		}}}},
		{"operations", object{{"deliver", object{
			{"action", "send"},
			{"channel", object{{"$ref", "#/channels/webhook"}}},
			{"summary", "Send an event to a webhook."},
			{"description", "Any 2xx within 30 seconds means that the event has arrived. A redirect is not followed and is a failure."},
			{"bindings", object{{"http", object{{"method", "POST"}, {"bindingVersion", "0.3.0"}}}}},
		}}}},
		{"components", object{{"messages", messages}, {"schemas", s.made}}},
	})
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return out.Bytes(), nil
}

// receiver is where events go, which is not ours: the host and the path are each webhook's own.
func receiver() object {
	return object{
		{"host", "{host}"},
		{"protocol", "https"},
		{"description", "The organisation's own server. In test mode it can also be a loopback address, without TLS."},
		{"variables", object{{"host", object{
			{"description", "Of the address that the webhook was made with."},
			{"default", "app.example"},
		}}}},
	}
}

// message describes one type of event.
func message(kind webhook.Kind, s *schemas) (object, error) {
	data, err := s.of(reflect.TypeOf(kind.Example))
	if err != nil {
		return nil, err
	}
	example, err := exampleOf(kind)
	if err != nil {
		return nil, err
	}
	return object{
		{"name", string(kind.Type)},
		{"title", kind.Title},
		{"summary", kind.When},
		{"headers", object{{"$ref", "#/components/schemas/Headers"}}},
		{"payload", object{{"allOf", []object{
			{{"$ref", "#/components/schemas/Envelope"}},
			{{"properties", object{{"type", object{{"const", string(kind.Type)}}}, {"data", data}}}},
		}}}},
		{"examples", []object{example}},
		{"x-subscribed", string(kind.Default)},
		{"x-extension", kind.Extension},
	}, nil
}

// exampleOf is a whole made-up event.
func exampleOf(kind webhook.Kind) (object, error) {
	date := time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)
	tenant := org.Tenant{Mode: org.Test, OrgID: "00000000-0000-4000-8000-000000000001"}
	event, err := webhook.NewEvent(tenant, kind.Type, "example", 0, date, kind.Example)
	if err != nil {
		return nil, err
	}
	payload, err := asWritten(event.Body)
	if err != nil {
		return nil, err
	}
	return object{
		{"name", "example"},
		{"headers", object{
			{"webhook-id", event.ID},
			{"webhook-timestamp", strconv.FormatInt(date.Unix(), 10)},
			{"webhook-signature", "v1," + strings.Repeat("A", 43) + "="},
		}},
		{"payload", payload},
	}, nil
}

// headers is the schema of the headers (Standard Webhooks 1.0, "Webhook headers").
func headers() object {
	return object{
		{"type", "object"},
		{"required", words{"webhook-id", "webhook-timestamp", "webhook-signature"}},
		{"properties", object{
			{"webhook-id", object{
				{"description", "The envelope's id: the same in every attempt, so drop what has been seen."},
				{"type", "string"},
				{"format", "uuid"},
			}},
			{"webhook-timestamp", object{
				{"description", "When this attempt was signed, in seconds since 1970."},
				{"type", "string"},
				{"pattern", "^[0-9]+$"},
			}},
			{"webhook-signature", object{
				{"description", "Signatures separated by spaces, of which one that verifies is enough: v1 (HMAC-SHA256) for each secret " +
					"that is in use, v1a (ed25519) where the webhook has such a key."},
				{"type", "string"},
				{"pattern", "^v1a?,[A-Za-z0-9+/]+=*( v1a?,[A-Za-z0-9+/]+=*)*$"},
			}},
		}},
	}
}

// envelope is the schema of what is the same in every body.
func envelope() object {
	return object{
		{"type", "object"},
		{"required", words{"api_mode", "date", "id", "type", "data"}},
		{"properties", object{
			{"api_mode", object{
				{"description", "The mode of the organisation's key."},
				{"type", "string"},
				{"enum", words{string(org.Test), string(org.Live)}},
			}},
			{"date", object{{"description", "When the fact happened."}, {"type", "string"}, {"format", "date-time"}}},
			{"id", object{
				{"description", "Id of the fact, the same in every attempt and to every webhook."},
				{"type", "string"},
				{"format", "uuid"},
			}},
			{"type", object{{"description", "What happened."}, {"type", "string"}}},
			{"data", object{{"description", "The fact."}, {"type", "object"}}},
		}},
	}
}
