package main

import (
	"context"
	"flag"
	"time"

	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
)

func credentialCommands() []command {
	return []command{
		{
			name: "credential create", flags: "-org ID -mode test|live -redirect URI ... [-origin ORIGIN ...] [-note TEXT]",
			help: "Creates a credential: a public ID and its first private " +
				"key", needs: []string{"org", "redirect"}, declare: createCredential,
		},
		{
			name: "credential list", flags: "-org ID -mode test|live", help: "Lists an organisation's credentials",
			needs: []string{"org"}, declare: listCredentials,
		},
		{
			name: "credential show", flags: "-public-id ID", help: "Shows a credential, without its keys",
			needs: []string{"public-id"}, declare: showCredential,
		},
		{
			name: "credential set", help: "Adds and removes redirect URIs and origins, and changes the note",
			needs: []string{"public-id"}, declare: changeCredential,
			flags: "-public-id ID [-add-redirect URI ...] [-remove-redirect URI ...] [-add-origin ORIGIN ...] [-remove-origin " +
				"ORIGIN ... | -any-origin] [-note TEXT]",
		},
		{
			name: "credential add-key", flags: "-public-id ID", help: "Creates a second private key",
			needs: []string{"public-id"}, declare: addKey,
		},
		{
			name: "credential revoke", flags: "-public-id ID [-all | -key ID]",
			help:  "Revokes the oldest live key, a given key, or all keys",
			needs: []string{"public-id"}, declare: revokeKeys,
		},
		{
			name: "credential remove", flags: "-public-id ID",
			help:  "Removes a credential without a live key, including its public ID",
			needs: []string{"public-id"}, declare: removeCredential,
		},
	}
}

func createCredential(flags *flag.FlagSet) action {
	var redirects, origins texts
	flags.Var(&redirects, "redirect", "redirect `URI`; may be repeated")
	flags.Var(&origins, "origin", "allowed `origin`; may be repeated")
	note := flags.String("note", "", "note that identifies the credential")
	return forTenant(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		draft := operator.CredentialDraft{Tenant: tenant, Note: *note, Redirects: redirects, Origins: origins}
		credential, private, err := s.Credentials.Create(ctx, draft)
		return showing(map[string]any{"public_id": credential.PublicID(), "private_key": private.Reveal()}, private, err)
	})
}

func listCredentials(flags *flag.FlagSet) action {
	return forTenant(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		all, err := s.Credentials.List(ctx, tenant)
		if err != nil {
			return nil, err
		}
		uses, err := s.Credentials.Uses(ctx, tenant)
		rows := make([]map[string]any, 0, len(all))
		for _, c := range all {
			rows = append(rows, credentialShown(c, uses))
		}
		return rows, err
	})
}

// credentialShown returns a credential's printed form, without secrets.
func credentialShown(c org.Credential, uses map[string]time.Time) map[string]any {
	keys := make([]map[string]any, 0, len(c.Keys))
	for _, key := range c.Keys {
		shown := map[string]any{"id": key.ID, "created_at": key.CreatedAt}
		if !key.RevokedAt.IsZero() {
			shown["revoked_at"] = key.RevokedAt
		}
		if at := uses[key.ID]; !at.IsZero() {
			shown["last_used_at"] = at
		}
		keys = append(keys, shown)
	}
	return map[string]any{
		"public_id": c.PublicID(), "note": c.Note, "org": c.Tenant.OrgID, "mode": c.Tenant.Mode,
		"redirect_uris": c.RedirectURIs,
		"origins":       append([]string{}, c.AllowedOrigins...), "keys": keys, "created_at": c.CreatedAt,
	}
}

func publicIDFlag(flags *flag.FlagSet) *string {
	return flags.String("public-id", "", "public `id`")
}

func showCredential(flags *flag.FlagSet) action {
	publicID := publicIDFlag(flags)
	return func(ctx context.Context, s session) (any, error) {
		shown, err := s.Credentials.Show(ctx, *publicID)
		if err != nil {
			return nil, err
		}
		uses, err := s.Credentials.Uses(ctx, shown.Tenant)
		return credentialShown(shown, uses), err
	}
}

func changeCredential(flags *flag.FlagSet) action {
	publicID := publicIDFlag(flags)
	var change operator.CredentialChange
	flags.Var((*texts)(&change.AddRedirects), "add-redirect", "redirect `URI` to add; may be repeated")
	flags.Var((*texts)(&change.RemoveRedirects), "remove-redirect", "redirect `URI` to remove; may be repeated")
	flags.Var((*texts)(&change.AddOrigins), "add-origin", "allowed `origin` to add; may be repeated")
	flags.Var((*texts)(&change.RemoveOrigins), "remove-origin", "allowed `origin` to remove; may be repeated")
	var note mayBeEmpty
	flags.Var(&note, "note", "note that identifies the credential; '' removes the note")
	flags.BoolVar(&change.AnyOrigin, "any-origin", false, "remove all origins, so that pages of any origin can use "+
		"the public ID")
	return func(ctx context.Context, s session) (any, error) {
		if flags.NFlag() < 2 {
			return nil, misused("nothing to change: set -add-redirect, -remove-redirect, -add-origin, " +
				"-remove-origin, -any-origin or -note")
		}
		change.Note = note.said
		changed, err := s.Credentials.Change(ctx, *publicID, change)
		return credentialShown(changed, nil), err
	}
}

func addKey(flags *flag.FlagSet) action {
	publicID := publicIDFlag(flags)
	return func(ctx context.Context, s session) (any, error) {
		key, private, err := s.Credentials.AddKey(ctx, *publicID)
		return showing(map[string]any{"public_id": *publicID, "key_id": key.ID, "private_key": private.Reveal()},
			private, err)
	}
}

func revokeKeys(flags *flag.FlagSet) action {
	publicID := publicIDFlag(flags)
	all := flags.Bool("all", false, "revoke all keys instead of the oldest key")
	key := flags.String("key", "", "`id` of the key to revoke instead of the oldest key")
	return func(ctx context.Context, s session) (any, error) {
		revoked := map[string]any{"public_id": *publicID, "revoked": true}
		if *key != "" {
			return revoked, s.Credentials.RevokeKey(ctx, *publicID, *key)
		}
		return revoked, s.Credentials.RevokeKeys(ctx, *publicID, *all)
	}
}

func removeCredential(flags *flag.FlagSet) action {
	publicID := publicIDFlag(flags)
	return func(ctx context.Context, s session) (any, error) {
		return map[string]any{"public_id": *publicID, "removed": true}, s.Credentials.Remove(ctx, *publicID)
	}
}

func keyCommands() []command {
	return []command{{
		name: "keys jwks", flags: "[-rsa]", declare: showKeys,
		help: "Prints the running service's public keys, for registrations that need the keys inline",
	}}
}

// showKeys prints the service's public client keys in the format that health systems accept.
func showKeys(flags *flag.FlagSet) action {
	rsa := flags.Bool("rsa", false, "print only RSA keys, for platforms that accept no other keys")
	return func(ctx context.Context, s session) (any, error) { return s.ClientKeys.PublicKeys(ctx, *rsa) }
}
