package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"strings"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// trigger sends an event with example data to the receiver. The event doesn't pass through the service.
func (t tool) trigger(ctx context.Context, flags *flag.FlagSet, args []string) error {
	account := t.declareAccount(flags)
	to := flags.String("to", "", "`URL` of your webhook; the last one if empty")
	name := flags.String("type", string(webhook.TestEvent), "the event's `type`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	kind, ok := webhook.ParseType(*name)
	if !ok {
		return fmt.Errorf("unknown event type %q; types are %s", *name, strings.ReplaceAll(allTypes(), ",", ", "))
	}
	a, err := account()
	if err != nil {
		return err
	}
	m, err := t.recallFor(a, *to)
	if err != nil {
		return err
	}
	subject := make([]byte, 16)
	if _, err = rand.Read(subject); err != nil {
		return err
	}
	data := webhook.Example(kind)
	if data == nil {
		return errors.New("the event type has no example")
	}
	made, err := webhook.NewEvent(org.Tenant{OrgID: a.publicID, Mode: org.Test}, kind, hex.EncodeToString(subject), 0,
		t.now(), data)
	if err != nil {
		return err
	}
	e, err := parseEvent(made.Body)
	if err != nil {
		return err
	}
	return t.deliverOnce(ctx, m.receiver(), e)
}
