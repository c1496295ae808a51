package main

import (
	"context"
	"flag"

	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
)

func webhookSetCommands() []command {
	return []command{
		{
			name: "webhook set", needs: []string{"org", "id"}, declare: changeWebhook,
			help: "Changes a webhook's note, rate, custom headers or signing key",
			flags: ofTenant + " -id ID [-note TEXT] [-rate N] [-header-file FILE|- | -no-headers] [-signing-key | " +
				"-no-signing-key]",
		},
		{
			name: "webhook secret", flags: ofTenant + " -id ID", needs: []string{"org", "id"}, declare: revealSecrets,
			help: "Prints the active signing secrets; the audit log records each use",
		},
	}
}

// changeWebhook applies all given changes to a webhook's settings in one operation.
func changeWebhook(flags *flag.FlagSet) action {
	var change operator.WebhookChange
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
		if *noHeaders && *file != "" || *signed && *unsigned {
			return nil, misused("-header-file and -no-headers can't be combined, nor can -signing-key and " +
				"-no-signing-key")
		}
		if change.Edit.Note = note.said; given(flags, "rate") {
			change.Edit.Rate = rate
		}
		var err error
		if change.Edit.Headers, err = readHeaders(s.input, *file); err != nil {
			return nil, err
		}
		if *noHeaders {
			change.Edit.Headers = map[string]string{}
		}
		if *signed || *unsigned {
			change.Edit.SigningKey = signed
		}
		if e := change.Edit; e.Note == nil && e.Rate == nil && e.Headers == nil && e.SigningKey == nil {
			return nil, misused("nothing to change: set -note, -rate, -header-file, -no-headers, -signing-key or " +
				"-no-signing-key")
		}
		sub, err := s.Webhooks.Change(ctx, tenant, id, change)
		return webhookShown(sub), err
	})
}

func revealSecrets(flags *flag.FlagSet) action {
	return forWebhook(flags, func(ctx context.Context, s session, tenant org.Tenant, id string) (any, error) {
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
	})
}
