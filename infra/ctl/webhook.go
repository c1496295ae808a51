package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/url"
	"strings"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// ofTenant describes the tenant flags in command synopses.
const ofTenant = "-org ID -mode test|live"

func webhookCommands() []command {
	one := []string{"org", "id"}
	return []command{
		{
			name: "webhook create", help: "Creates a webhook and prints its secret once", needs: []string{"org", "url"},
			declare: createWebhook,
			flags:   ofTenant + " -url URL [-note TEXT] [-type TYPE ...] [-rate N] [-signing-key] [-header-file FILE|-]",
		},
		{
			name: "webhook list", flags: ofTenant, help: "Lists webhooks and their status", needs: one[:1],
			declare: listWebhooks,
		},
		{
			name: "webhook show", flags: ofTenant + " (-id ID [-secrets] | -delivery ID)", needs: one[:1],
			declare: showWebhook,
			help:    "Shows a webhook, its active signing secrets (audited), or a delivery with every attempt",
		},
		{
			name: "webhook set", needs: one, declare: changeWebhook,
			help: "Changes the given settings of a webhook",
			flags: ofTenant + " -id ID [-url URL] [-type TYPE ... | -no-types] [-note TEXT] [-rate N] " +
				"[-header-file FILE|- | -no-headers] [-signing-key | -no-signing-key]",
		},
		{
			name: "webhook rotate", confirms: true, flags: ofTenant + " -id ID [-expire-now]",
			help:  "Creates a new signing secret and prints it once",
			needs: one, declare: rotateWebhook,
		},
		{
			name: "webhook disable", flags: ofTenant + " -id ID", help: "Disables a webhook and holds its events",
			needs: one, declare: disableWebhook,
		},
		{
			name: "webhook enable", flags: ofTenant + " -id ID", help: "Enables a disabled webhook and reports its missed " +
				"events",
			needs: one, declare: enableWebhook,
		},
		{
			name: "webhook remove", confirms: true, flags: ofTenant + " -id ID", help: "Removes a disabled webhook", needs: one,
			declare: removeWebhook,
		},
	}
}

func createWebhook(flags *flag.FlagSet) action {
	var made webhook.Draft
	flags.StringVar(&made.URL, "url", "", "`URL` to send events to")
	flags.StringVar(&made.Note, "note", "", "note that identifies the webhook")
	flags.IntVar(&made.Rate, "rate", 0, "attempts per second, 1 to 1000 (default 50)")
	flags.BoolVar(&made.SigningKey, "signing-key", false, "also sign with an ed25519 key, and print its public key")
	file := flags.String("header-file", "", "custom headers to send: a `file` of lines NAME=VALUE, - for standard "+
		"input")
	typed := typeFlags(flags)
	return forTenant(flags, seekAccess, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		if given(flags, "rate") && made.Rate == 0 {
			return nil, misused("-rate must be from 1 to 1000")
		}
		made.Tenant = tenant
		var err error
		if made.Optional, err = typed(); err != nil {
			return nil, err
		}
		if !given(flags, "type") {
			made.Optional = webhook.Default()
		}
		if made.Headers, err = readHeaders(s.input, *file); err != nil {
			return nil, err
		}
		sub, signing, err := s.Webhooks.Create(ctx, made)
		shown := webhookShown(sub)
		shown["secret"] = signing.Reveal()
		return showing(shown, signing, err)
	})
}

func listWebhooks(flags *flag.FlagSet) action {
	return forTenant(flags, seekWebhook(new("")), func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		all, err := s.Webhooks.List(ctx, tenant)
		rows := make([]map[string]any, 0, len(all))
		for _, sub := range all {
			rows = append(rows, webhookShown(sub))
		}
		return rows, err
	})
}

func showWebhook(flags *flag.FlagSet) action {
	secrets := flags.Bool("secrets", false, "print only the active signing secrets; the audit log records each use")
	delivery := flags.String("delivery", "", "`id` of a delivery, from webhook log")
	id := webhookFlag(flags)
	return forTenant(flags, seekDelivery(delivery, id), func(ctx context.Context, s session, tenant org.Tenant) (any,
		error,
	) {
		switch {
		case (*id == "") == (*delivery == "") || *secrets && *id == "":
			return nil, misused("set either -id or -delivery; -secrets requires -id")
		case *delivery != "":
			return s.delivery(ctx, tenant, *delivery)
		case *secrets:
			return s.secrets(ctx, tenant, *id)
		}
		sub, err := s.Webhooks.Show(ctx, tenant, *id)
		return webhookShown(sub), err
	})
}

func rotateWebhook(flags *flag.FlagSet) action {
	atOnce := flags.Bool("expire-now", false, "revoke the old secrets immediately instead of in 24 hours; use this "+
		"flag if a secret has leaked")
	return forWebhook(flags, func(ctx context.Context, s session, tenant org.Tenant, id string) (any, error) {
		if *atOnce {
			if err := s.confirmWebhook(ctx, tenant, id, "This immediately and permanently revokes the signing secrets of "+
				"webhook %s (%s) of organisation %s in %s mode. Its receiver rejects events until it has the new "+
				"secret."); err != nil {
				return nil, err
			}
		}
		sub, signing, err := s.Webhooks.Rotate(ctx, tenant, id, *atOnce)
		return showing(map[string]any{"id": sub.ID, "secret": signing.Reveal(), "old_secrets_end": oldSecretsEnd(sub)},
			signing, err)
	})
}

func disableWebhook(flags *flag.FlagSet) action {
	return forWebhook(flags, func(ctx context.Context, s session, tenant org.Tenant, id string) (any, error) {
		return map[string]any{"id": id, "disabled": true}, s.Webhooks.Disable(ctx, tenant, id)
	})
}

func enableWebhook(flags *flag.FlagSet) action {
	return forWebhook(flags, func(ctx context.Context, s session, tenant org.Tenant, id string) (any, error) {
		was, missedSince, err := s.Webhooks.Enable(ctx, tenant, id)
		return map[string]any{"id": was.ID, "disabled_at": was.DisabledAt, "missed_since": missedSince}, err
	})
}

func removeWebhook(flags *flag.FlagSet) action {
	return forWebhook(flags, func(ctx context.Context, s session, tenant org.Tenant, id string) (any, error) {
		if err := s.confirmWebhook(ctx, tenant, id, "This permanently removes webhook %s (%s) of organisation %s in %s "+
			"mode. Its held events are never sent."); err != nil {
			return nil, err
		}
		return map[string]any{"id": id, "removed": true}, s.Webhooks.Remove(ctx, tenant, id)
	})
}

// confirmWebhook asks about a change to a webhook. The question's verbs receive the webhook's ID and host, and its
// organisation and mode.
func (s session) confirmWebhook(ctx context.Context, tenant org.Tenant, id, question string) error {
	found, err := s.Webhooks.Show(ctx, tenant, id)
	if err != nil {
		return err
	}
	host := "no URL"
	if at, err := url.Parse(found.URL); err == nil {
		host = at.Host
	}
	return s.confirm(question, id, host, tenant.OrgID, tenant.Mode)
}

func webhookFlag(flags *flag.FlagSet) *string {
	return flags.String("id", "", "webhook `id`, from webhook create")
}

func forWebhook(flags *flag.FlagSet, do func(ctx context.Context, s session, tenant org.Tenant, id string) (any,
	error),
) action {
	id := webhookFlag(flags)
	return forTenant(flags, seekWebhook(id), func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		return do(ctx, s, tenant, *id)
	})
}

func typeFlags(flags *flag.FlagSet) func() ([]webhook.Type, error) {
	var names texts
	flags.Var(&names, "type", fmt.Sprintf("optional event `type`; may be repeated; always included: %v",
		webhook.Required()))
	return func() ([]webhook.Type, error) { return typesOf(names) }
}

func typesOf(names []string) ([]webhook.Type, error) {
	types := make([]webhook.Type, 0, len(names))
	for _, name := range names {
		t, ok := webhook.ParseType(name)
		if !ok {
			return nil, misused("-type: unknown event type %q", name)
		}
		types = append(types, t)
	}
	return types, nil
}

// readHeaders parses lines of the form NAME=VALUE. Errors don't contain any input, because the values are secrets.
func readHeaders(input io.Reader, file string) (map[string]string, error) {
	content, err := readSecret(input, "header-file", file)
	if err != nil || content.Empty() {
		return nil, err
	}
	headers := map[string]string{}
	for number, line := range strings.Split(content.Reveal(), "\n") {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\r"), "=")
		if _, twice := headers[name]; !ok || twice {
			return nil, fmt.Errorf("line %d of -header-file is not NAME=VALUE, or repeats a header", number+1)
		}
		headers[name] = value
	}
	return headers, nil
}
