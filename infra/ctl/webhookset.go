package main

import (
	"context"
	"flag"
	"reflect"

	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
)

// changeWebhook applies all given changes to a webhook's settings in one operation.
func changeWebhook(flags *flag.FlagSet) action {
	_ = flags.String("url", "", "new `URL` to send all events to, including retries")
	typed := typeFlags(flags)
	noTypes := flags.Bool("no-types", false, "keep only the required event types")
	var note mayBeEmpty
	flags.Var(&note, "note", "note that identifies the webhook; '' removes the note")
	rate := flags.Int("rate", 0, "attempts per second, 1 to 1000; 0 for the default")
	file := flags.String("header-file", "", "custom headers that replace the current headers: a `file` of lines "+
		"NAME=VALUE, - for standard input")
	noHeaders := flags.Bool("no-headers", false, "remove all custom headers")
	signed := flags.Bool("signing-key", false, "also sign with a new ed25519 key, and print its public key; replaces "+
		"the previous key")
	unsigned := flags.Bool("no-signing-key", false, "remove the ed25519 key")
	return forWebhook(flags, func(ctx context.Context, s session, tenant org.Tenant, id string) (any, error) {
		if err := exclusive(flags, [2]string{"header-file", "no-headers"}, [2]string{"signing-key", "no-signing-key"},
			[2]string{"type", "no-types"}); err != nil {
			return nil, err
		}
		change := operator.WebhookChange{URL: optional(flags, "url")}
		wanted, err := typed()
		if err != nil {
			return nil, err
		}
		if given(flags, "type") || *noTypes {
			change.Optional = wanted
		}
		if change.Edit.Note = note.said; given(flags, "rate") {
			change.Edit.Rate = rate
		}
		if change.Edit.Headers, err = readHeaders(s.input, *file); err != nil {
			return nil, err
		}
		if *noHeaders {
			change.Edit.Headers = map[string]string{}
		}
		if *signed || *unsigned {
			change.Edit.SigningKey = signed
		}
		if reflect.ValueOf(change).IsZero() {
			return nil, misused("nothing to change: set -url, -type, -no-types, -note, -rate, -header-file, -no-headers, " +
				"-signing-key or -no-signing-key")
		}
		sub, err := s.Webhooks.Change(ctx, tenant, id, change)
		return webhookShown(sub), err
	})
}

// secrets reveals a webhook's active signing secrets, newest first.
func (s session) secrets(ctx context.Context, tenant org.Tenant, id string) (any, error) {
	revealed, err := s.Webhooks.Reveal(ctx, tenant, id)
	secrets := make([]map[string]any, 0, len(revealed))
	for _, one := range revealed {
		shown := map[string]any{"secret": one.Secret.Reveal()}
		if !one.ExpiresAt.IsZero() {
			shown["ends_at"] = one.ExpiresAt
		}
		secrets = append(secrets, shown)
	}
	return map[string]any{"id": id, "secrets": secrets}, err
}
