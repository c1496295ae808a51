package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"recordbridge/shared/operator"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

func createWebhook(ctx context.Context, o *operator.Operator, input io.Reader, args []string) (any, error) {
	flags := flag.NewFlagSet("webhook create", flag.ContinueOnError)
	var made webhook.Draft
	flags.StringVar(&made.URL, "url", "", "where events are sent")
	flags.IntVar(&made.Rate, "rate", 0, "attempts per second, 1 to 1000 (default 50)")
	flags.BoolVar(&made.SigningKey, "signing-key", false, "sign with an ed25519 key as well, whose public half is printed")
	file := flags.String("header-file", "", "send these headers, too: a file of lines NAME=VALUE, - for standard input")
	typed := typeFlags(flags)
	tenantOf := tenantFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	if given(flags, "rate") && made.Rate == 0 {
		return nil, errors.New("-rate must be from 1 to 1000")
	}
	var err error
	if made.Tenant, err = tenantOf(); err != nil {
		return nil, err
	}
	if made.Optional, err = typed(); err != nil {
		return nil, err
	}
	if !given(flags, "type") {
		made.Optional = webhook.Default()
	}
	if made.Headers, err = readHeaders(input, *file); err != nil {
		return nil, err
	}
	sub, signing, err := o.Webhooks.Create(ctx, made)
	shown := webhookShown(sub)
	shown["secret"] = signing.Reveal()
	return showing(shown, signing, err)
}

func listWebhooks(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("webhook list", flag.ContinueOnError)
	tenantOf := tenantFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	tenant, err := tenantOf()
	if err != nil {
		return nil, err
	}
	all, err := o.Webhooks.List(ctx, tenant)
	rows := make([]map[string]any, 0, len(all))
	for _, sub := range all {
		rows = append(rows, webhookShown(sub))
	}
	return rows, err
}

// webhookTypes shows the event types of a webhook, or changes them. What is left out changes nothing.
func webhookTypes(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("webhook types", flag.ContinueOnError)
	named, typed := webhookFlags(flags), typeFlags(flags)
	none := flags.Bool("none", false, "only the required types")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	tenant, id, err := named()
	if err != nil {
		return nil, err
	}
	optional, err := typed()
	if err != nil {
		return nil, err
	}
	switch {
	case *none && len(optional) > 0:
		return nil, errors.New("-none and -type do not go together")
	case !*none && len(optional) == 0:
		optional, err = o.Webhooks.Types(ctx, tenant, id)
		return map[string]any{"id": id, "types": optional}, err
	}
	sub, err := o.Webhooks.SetTypes(ctx, tenant, id, optional)
	return map[string]any{"id": sub.ID, "types": sub.Types}, err
}

func disableWebhook(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("webhook disable", flag.ContinueOnError)
	named := webhookFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	tenant, id, err := named()
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": id, "disabled": true}, o.Webhooks.Disable(ctx, tenant, id)
}

func rotateWebhook(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("webhook rotate", flag.ContinueOnError)
	atOnce := flags.Bool("expire-now", false, "end the old secrets now and not in 24 hours; do so when one has leaked")
	named := webhookFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	tenant, id, err := named()
	if err != nil {
		return nil, err
	}
	sub, signing, err := o.Webhooks.Rotate(ctx, tenant, id, *atOnce)
	return showing(map[string]any{"id": sub.ID, "secret": signing.Reveal(), "old_secrets_end": oldSecretsEnd(sub)}, signing, err)
}

func enableWebhook(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("webhook enable", flag.ContinueOnError)
	named := webhookFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	tenant, id, err := named()
	if err != nil {
		return nil, err
	}
	was, missedSince, err := o.Webhooks.Enable(ctx, tenant, id)
	return map[string]any{"id": was.ID, "disabled_at": was.DisabledAt, "missed_since": missedSince}, err
}

func replayWebhook(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("webhook replay", flag.ContinueOnError)
	delivery := flags.String("delivery", "", "one delivery, whatever its status")
	since := timeFlag(flags, "failed-since", "the deliveries made since this time that have failed or are held")
	from := timeFlag(flags, "from", "the deliveries made at this time or later, delivered or not")
	to := timeFlag(flags, "to", "only those made before this time")
	tenantOf := tenantFlags(flags)
	id := flags.String("id", "", "the webhook")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	tenant, err := tenantOf()
	if err != nil {
		return nil, err
	}
	isOne, isSince, isRange := *delivery != "", *id != "" && !since.IsZero(), *id != "" && !from.IsZero() && !to.IsZero()
	switch flags.NFlag() - countGiven(flags, "org", "mode") {
	case 1:
		if isOne {
			return map[string]any{"replayed": 1}, o.Webhooks.ReplayDelivery(ctx, tenant, *delivery)
		}
	case 2:
		if isSince {
			count, err := o.Webhooks.ReplayFailed(ctx, tenant, *id, *since)
			return map[string]any{"replayed": count}, err
		}
	case 3:
		if isRange {
			count, err := o.Webhooks.ReplayRange(ctx, tenant, *id, *from, *to)
			return map[string]any{"replayed": count}, err
		}
	}
	return nil, errors.New("say what is to be replayed: -delivery, or -id with -failed-since, or -id with -from and -to")
}

func simulateEvent(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("webhook simulate", flag.ContinueOnError)
	tenantOf := tenantFlags(flags)
	id := flags.String("id", "", "the webhook (default: all that are subscribed to the type)")
	name := flags.String("type", "", "event type")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	if err := stated(flags, "id"); err != nil {
		return nil, err
	}
	tenant, err := tenantOf()
	if err != nil {
		return nil, err
	}
	types, err := typesOf([]string{*name})
	if err != nil {
		return nil, err
	}
	event, err := o.Webhooks.Simulate(ctx, tenant, *id, types[0])
	return map[string]any{"event_id": event}, err
}

func testWebhook(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("webhook test", flag.ContinueOnError)
	tenantOf := tenantFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	tenant, err := tenantOf()
	if err != nil {
		return nil, err
	}
	id, err := o.Webhooks.SendTest(ctx, tenant)
	return map[string]any{"event_id": id}, err
}

// webhookFlags adds the flags that name a webhook of an organisation in a mode.
func webhookFlags(flags *flag.FlagSet) func() (org.Tenant, string, error) {
	tenantOf := tenantFlags(flags)
	id := flags.String("id", "", "what webhook create printed as id")
	return func() (org.Tenant, string, error) {
		tenant, err := tenantOf()
		return tenant, *id, err
	}
}

// typeFlags adds the flag for optional event types.
func typeFlags(flags *flag.FlagSet) func() ([]webhook.Type, error) {
	var names texts
	flags.Var(&names, "type", fmt.Sprintf("event type besides the required ones, may be repeated; required are %v", webhook.Required()))
	return func() ([]webhook.Type, error) { return typesOf(names) }
}

func typesOf(names []string) ([]webhook.Type, error) {
	types := make([]webhook.Type, 0, len(names))
	for _, name := range names {
		t, ok := webhook.ParseType(name)
		if !ok {
			return nil, fmt.Errorf("there is no event type %q", name)
		}
		types = append(types, t)
	}
	return types, nil
}

// timeFlag adds a flag for a time as RFC 3339 writes it.
func timeFlag(flags *flag.FlagSet, name, usage string) *time.Time {
	at := &time.Time{}
	flags.TextVar(at, name, time.Time{}, usage)
	return at
}

func countGiven(flags *flag.FlagSet, names ...string) int {
	count := 0
	for _, name := range names {
		if given(flags, name) {
			count++
		}
	}
	return count
}

// readHeaders reads lines of NAME=VALUE. Its errors repeat nothing of them: the values are secrets.
func readHeaders(input io.Reader, file string) (map[string]string, error) {
	content, err := readSecret(input, "header-file", file)
	if err != nil || content.Empty() {
		return nil, err
	}
	headers := map[string]string{}
	for number, line := range strings.Split(content.Reveal(), "\n") {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\r"), "=")
		if _, twice := headers[name]; !ok || twice {
			return nil, fmt.Errorf("line %d of -header-file is not NAME=VALUE, or names a header again", number+1)
		}
		headers[name] = value
	}
	return headers, nil
}

// webhookShown is a webhook without its secrets.
func webhookShown(s webhook.Subscription) map[string]any {
	shown := map[string]any{"id": s.ID, "url": s.URL, "types": s.Types, "created_at": s.CreatedAt, "disabled": s.Disabled}
	if s.Rate != 0 {
		shown["rate"] = s.Rate
	}
	if s.PublicKey != "" {
		shown["public_key"] = s.PublicKey
	}
	if len(s.HeaderNames) > 0 {
		shown["headers"] = s.HeaderNames
	}
	if ends := oldSecretsEnd(s); len(ends) > 0 {
		shown["old_secrets_end"] = ends
	}
	if s.Disabled {
		shown["disabled_at"], shown["disabled_for"] = s.DisabledAt, s.DisabledFor
	}
	if h := s.Health; h.Failures > 0 {
		shown["failures"], shown["failing_since"] = h.Failures, h.FailingSince
	}
	return shown
}

// oldSecretsEnd tells until when each secret but the current one signs.
func oldSecretsEnd(s webhook.Subscription) []time.Time {
	ends := []time.Time{}
	for _, old := range s.Secrets {
		if !old.ExpiresAt.IsZero() {
			ends = append(ends, old.ExpiresAt)
		}
	}
	return ends
}
