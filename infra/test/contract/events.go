package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Events checks webhook deliveries against docs/asyncapi.yaml.
type Events struct {
	record

	messages map[string]message
}

type message struct{ headers, payload *schema }

// ReadEvents parses an AsyncAPI document whose messages have headers and a payload.
func ReadEvents(text []byte) (*Events, error) {
	var document map[string]any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	c := newCompiler(document)
	e := &Events{messages: map[string]message{}}
	described, _ := c.lookUp("#/components/messages").(map[string]any)
	for name, value := range described {
		rules, _ := value.(map[string]any)
		headers, err := c.compile(rules["headers"])
		if err != nil {
			return nil, fmt.Errorf("the headers of %s: %w", name, err)
		}
		payload, err := c.compile(rules["payload"])
		if err != nil {
			return nil, fmt.Errorf("the payload of %s: %w", name, err)
		}
		e.messages[name] = message{headers, payload}
		e.declare(name)
		declared("", []*schema{payload}, func(at string) { e.declare(name + " " + at) })
	}
	return e, nil
}

// Check compares a webhook delivery with its event type's message in the AsyncAPI document. Check returns an error that
// lists all violations. If there are none, it records which parts of the document the delivery covers.
func (e *Events) Check(header http.Header, body []byte) error {
	var value map[string]any
	if err := json.Unmarshal(body, &value); err != nil {
		return fmt.Errorf("a webhook received %q: %w", body, err)
	}
	name, _ := value["type"].(string)
	m, known := e.messages[name]
	if !known {
		return fmt.Errorf("the event type %q is not described", name)
	}
	signed := map[string]any{}
	for name := range header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "webhook-") {
			signed[lower] = header.Get(name)
		}
	}
	seen := []string{name}
	wrong := append(m.headers.violations("headers", signed), m.payload.violations("", value)...)
	wrong = append(wrong, undeclared("headers", signed, []*schema{m.headers}, func(string) {})...)
	wrong = append(wrong, undeclared("", value, []*schema{m.payload},
		func(at string) { seen = append(seen, name+" "+at) })...)
	if len(wrong) > 0 {
		return fmt.Errorf("%s: %s: %s", name, strings.Join(wrong, "; "), body)
	}
	e.note(seen...)
	return nil
}
