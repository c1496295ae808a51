package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
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
			name: "credential revoke", flags: "-public-id ID (-key ID | -all) [-allow-none]", confirms: true,
			help:  "Revokes a private key or all private keys; safe to repeat",
			needs: []string{"public-id"}, declare: revokeKeys,
		},
		{
			name: "credential remove", flags: "-public-id ID", confirms: true,
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
	return forTenant(flags, seekAccess, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		draft := operator.CredentialDraft{Tenant: tenant, Note: *note, Redirects: redirects, Origins: origins}
		credential, private, err := s.Credentials.Create(ctx, draft)
		return showing(map[string]any{"public_id": credential.PublicID(), "private_key": private.Reveal()}, private, err)
	})
}

func listCredentials(flags *flag.FlagSet) action {
	return forTenant(flags, seekCredentials, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
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
	return map[string]any{
		"public_id": c.PublicID(), "note": c.Note, "org": c.Tenant.OrgID, "mode": c.Tenant.Mode,
		"redirect_uris": c.RedirectURIs,
		"origins":       append([]string{}, c.AllowedOrigins...), "keys": keysShown(c.Keys, uses), "created_at": c.CreatedAt,
	}
}

// keysShown returns the printed form of keys, without secrets.
func keysShown(keys []org.Key, uses map[string]time.Time) []map[string]any {
	rows := make([]map[string]any, 0, len(keys))
	for _, key := range keys {
		row := map[string]any{"id": key.ID, "created_at": key.CreatedAt}
		addTime(row, "revoked_at", key.RevokedAt)
		addTime(row, "last_used_at", uses[key.ID])
		rows = append(rows, row)
	}
	return rows
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
		if flags.NFlag() == countGiven(flags, "public-id", "o", "yes") {
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
	var r operator.Revocation
	all := flags.Bool("all", false, "revoke all live keys")
	flags.StringVar(&r.KeyID, "key", "", "`id` of the key to revoke, from credential show")
	flags.BoolVar(&r.AllowNone, "allow-none", false,
		"revoke the last live key as well; API requests with the credential then fail")
	return func(ctx context.Context, s session) (any, error) {
		if *all == (r.KeyID != "") {
			return nil, misused("set either -key or -all; to list the keys, run credential show")
		}
		credential, keys, err := s.Credentials.Revocable(ctx, *publicID, r)
		if err != nil {
			return nil, err
		}
		uses, err := s.Credentials.Uses(ctx, credential.Tenant)
		if err != nil {
			return nil, err
		}
		if len(keys) > 0 {
			if err = s.confirm("This permanently revokes %d of %d live keys of %s (organisation %s, %s mode): %s.", len(keys),
				live(credential), *publicID, credential.Tenant.OrgID, credential.Tenant.Mode, keysNamed(keys, uses)); err != nil {
				return nil, err
			}
			if credential, keys, err = s.Credentials.Revoke(ctx, *publicID, r); err != nil && len(keys) == 0 {
				return nil, err
			}
		}
		shown := map[string]any{
			"public_id": *publicID, "org": credential.Tenant.OrgID, "mode": credential.Tenant.Mode,
			"revoked": keysShown(keys, uses), "live_keys": live(credential), "changed": len(keys) > 0,
		}
		if len(keys) == 0 {
			fmt.Fprintln(s.said, "ctl: nothing was changed, because the keys are already revoked")
		}
		return shown, err
	}
}

func live(c org.Credential) int {
	return len(slices.DeleteFunc(slices.Clone(c.Keys), func(k org.Key) bool { return !k.RevokedAt.IsZero() }))
}

// keysNamed describes keys for a question: their IDs, creation times and last uses.
func keysNamed(keys []org.Key, uses map[string]time.Time) string {
	texts := make([]string, 0, len(keys))
	for _, key := range keys {
		used := "never used"
		if at := uses[key.ID]; !at.IsZero() {
			used = "last used " + at.UTC().Format(time.RFC3339)
		}
		texts = append(texts, fmt.Sprintf("%s, created %s, %s", key.ID, key.CreatedAt.UTC().Format(time.RFC3339), used))
	}
	return strings.Join(texts, "; ")
}

func removeCredential(flags *flag.FlagSet) action {
	publicID := publicIDFlag(flags)
	return func(ctx context.Context, s session) (any, error) {
		found, err := s.Credentials.Show(ctx, *publicID)
		if err != nil {
			return nil, err
		}
		if live(found) == 0 {
			if err := s.confirm("This permanently removes credential %s (%q) of organisation %s in %s mode.", *publicID,
				found.Note, found.Tenant.OrgID, found.Tenant.Mode); err != nil {
				return nil, err
			}
		}
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
