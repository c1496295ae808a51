package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"recordbridge/shared/webhook"
)

// pauseBetween is the time between two requests for events. Events appear after 15 seconds (docs/guide/events.md).
const pauseBetween = 2 * time.Second

// listen sends each new event to the receiver. An event that the receiver doesn't accept isn't sent again, except by
// replay.
func (t tool) listen(ctx context.Context, flags *flag.FlagSet, args []string) error {
	account := t.declareAccount(flags)
	to := flags.String("to", "", "`URL` of your webhook on this machine, such as http://localhost:8080/webhook; "+
		"remembered for the next run")
	types := flags.String("types", "", "comma-separated event `types`; all but extensions if empty")
	all := flags.Bool("all", false, "also send the events of the last 15 days")
	if err := flags.Parse(args); err != nil {
		return err
	}
	a, err := account()
	if err != nil {
		return err
	}
	m, err := t.recallFor(a, *to)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "Sending test-mode events from %s to %s. Press Ctrl-C to stop.\nSigning secret: %s\n",
		a.baseURL, m.URL, m.Secret)
	switch {
	case *all:
		m.After = ""
	case m.After == "":
		if m.After, err = t.each(ctx, a, "", *types, func(event) error { return nil }); err != nil {
			return err
		}
		if err = m.keep(); err != nil {
			return err
		}
	}
	for {
		if m, err = t.forward(ctx, a, m, *types); err != nil {
			return err
		}
	}
}

// forward sends the next page of events to the receiver and stores the new position. It waits if the page was the last.
func (t tool) forward(ctx context.Context, a account, m memory, types string) (memory, error) {
	found, err := t.read(ctx, a, m.After, types)
	if errors.Is(err, errCursor) {
		fmt.Fprintf(t.out, "%s  %v; sending the events of the last 15 days\n", t.clock(), err)
		m.After = ""
		return m, nil
	}
	if err != nil {
		return m, err
	}
	for _, body := range found.Events {
		e, err := parseEvent(body)
		if err != nil {
			return m, fmt.Errorf("read an event: %w", err)
		}
		if _, err = t.deliver(ctx, m.receiver(), e); err != nil {
			return m, err
		}
	}
	if m.After != found.After {
		m.After = found.After
		if err := m.keep(); err != nil {
			return m, err
		}
	}
	if found.More {
		return m, nil
	}
	return m, t.wait(ctx, pauseBetween)
}

// recallFor reads the memory and sets its URL unless the URL is empty.
func (t tool) recallFor(a account, url string) (memory, error) {
	m, err := t.recall(a)
	if err != nil {
		return memory{}, err
	}
	if url != "" {
		m.URL = url
	}
	if m.URL == "" {
		return memory{}, errors.New("-to is required: the URL of your webhook, such as http://localhost:8080/webhook")
	}
	if err = checkURL(m.URL); err != nil {
		return memory{}, err
	}
	return m, m.keep()
}

// replay sends an event of the last 15 days to the receiver again.
func (t tool) replay(ctx context.Context, flags *flag.FlagSet, args []string) error {
	account := t.declareAccount(flags)
	to := flags.String("to", "", "`URL` of your webhook; the last one if empty")
	id := flags.String("id", "", "the event's `ID`, as in the output of listen and in the header webhook-id")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *id == "" {
		return errors.New("-id is required: the event's ID")
	}
	a, err := account()
	if err != nil {
		return err
	}
	m, err := t.recallFor(a, *to)
	if err != nil {
		return err
	}
	errFound := errors.New("found")
	var found event
	_, err = t.each(ctx, a, "", allTypes(), func(e event) error {
		if e.ID != *id {
			return nil
		}
		found = e
		return errFound
	})
	if errors.Is(err, errFound) {
		return t.deliverOnce(ctx, m.receiver(), found)
	}
	if err == nil {
		err = fmt.Errorf("no event of the last 15 days has the ID %s", *id)
	}
	return err
}

// allTypes names every event type, including the extensions, which the feed omits by default.
func allTypes() string {
	catalogue := webhook.Catalogue()
	names := make([]string, 0, len(catalogue))
	for _, kind := range catalogue {
		names = append(names, string(kind.Type))
	}
	return strings.Join(names, ",")
}

func (t tool) deliverOnce(ctx context.Context, to receiver, e event) error {
	ok, err := t.deliver(ctx, to, e)
	if err == nil && !ok {
		err = errors.New("the receiver didn't accept the event; it must respond with 2xx")
	}
	return err
}
