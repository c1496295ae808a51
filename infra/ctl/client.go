package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

func clientCommands() []command {
	const owner = " [-org ID -mode test|live]"
	return []command{
		{
			name: "client create", help: "Creates a client authentication, shared by all organisations or for one organisation",
			needs: []string{"method"}, declare: createClient,
			flags: "-method client_secret_basic|client_secret_post -secret-file FILE|- -origin ORIGIN ..." + owner +
				"\n-method private_key_jwt [-algorithm RS384|ES384] [-key-id KID]" + owner,
		},
		{
			name: "client list", flags: "[-id ID]", declare: listClients,
			help: "Lists all client authentications, or one of them, without secrets",
		},
		{
			name: "client rotate", flags: "-id ID -secret-file FILE|-" + owner + "\n-id ID -key-id KID" + owner,
			help: "Replaces a client authentication's secret or key, keeping its " +
				"ID", needs: []string{"id"}, declare: rotateClient,
		},
		{
			name: "client set", flags: "-id ID -origin ORIGIN ..." + owner, needs: []string{"id", "origin"},
			declare: setOrigins,
			help:    "Replaces the origins that a client secret may be sent to",
		},
		{
			name: "client remove", confirms: true, flags: "-id ID [-abandon]" + owner,
			help: "Removes a client authentication that " +
				"no registration uses",
			needs: []string{"id"}, declare: removeClient,
		},
	}
}

func createClient(flags *flag.FlagSet) action {
	var made catalog.ClientAuth
	method := flags.String("method", "", "client_secret_basic, client_secret_post or private_key_jwt")
	flags.StringVar(&made.Algorithm, "algorithm", "", "for private_key_jwt: `RS384` or ES384 (default RS384)")
	flags.StringVar(&made.KeyID, "key-id", "",
		"for private_key_jwt: `kid` of the signing key, from keys jwks (default: always the current key)")
	flags.Var((*texts)(&made.Origins), "origin",
		"token endpoint `origin` that the client secret may be sent to; may be repeated")
	file := secretFlag(flags)
	owned := clientOwnerFlags(flags)
	return func(ctx context.Context, s session) (any, error) {
		owner, err := owned(ctx, s, seekAccess)
		if err != nil {
			return nil, err
		}
		made.Method = catalog.AuthMethod(*method)
		if made.Method == catalog.AuthPrivateKey && made.Algorithm == "" {
			made.Algorithm = "RS384"
		}
		plain, err := readSecret(s.input, "secret-file", *file)
		if err != nil {
			return nil, err
		}
		id, err := s.Clients.Create(ctx, owner, made, plain)
		return map[string]any{"client_auth_id": id}, err
	}
}

func listClients(flags *flag.FlagSet) action {
	id := flags.String("id", "", "only the client authentication with this `id`")
	return func(ctx context.Context, s session) (any, error) {
		all, err := s.Clients.List(ctx)
		rows := make([]map[string]any, 0, len(all))
		for _, c := range all {
			if *id == "" || c.Auth.ID == *id {
				rows = append(rows, clientShown(c))
			}
		}
		if err == nil && *id != "" && len(rows) == 0 {
			err = fault.Missing(fmt.Sprintf("Client %q not found.", *id)).About("id")
		}
		return rows, err
	}
}

// clientShown returns a client's printed form, without its secret.
func clientShown(c catalog.OwnedClient) map[string]any {
	shown := ownerShown(c.Owner)
	shown["client_auth_id"], shown["method"], shown["origins"] = c.Auth.ID, c.Auth.Method,
		append([]string{}, c.Auth.Origins...)
	for name, value := range map[string]string{"algorithm": c.Auth.Algorithm, "key_id": c.Auth.KeyID} {
		if value != "" {
			shown[name] = value
		}
	}
	return shown
}

func ownerShown(owner org.Tenant) map[string]any {
	if owner == (org.Tenant{}) {
		return map[string]any{"of": "everybody"}
	}
	return map[string]any{"of": owner.OrgID, "mode": owner.Mode}
}

// forClient returns an action that operates on a client. The client is either shared or owned by a tenant.
func forClient(flags *flag.FlagSet, do func(ctx context.Context, s session, owner org.Tenant, id string) (any,
	error),
) action {
	id := flags.String("id", "", "`id` that client create printed as client_auth_id")
	owned := clientOwnerFlags(flags)
	return func(ctx context.Context, s session) (any, error) {
		owner, err := owned(ctx, s, seekClient(*id))
		if err != nil {
			return nil, err
		}
		return do(ctx, s, owner, *id)
	}
}

func rotateClient(flags *flag.FlagSet) action {
	var keyID mayBeEmpty
	flags.Var(&keyID, "key-id", "for private_key_jwt: `kid` of the new signing key; '' for always the current key")
	file := secretFlag(flags)
	return forClient(flags, func(ctx context.Context, s session, owner org.Tenant, id string) (any, error) {
		change := operator.Rotation{KeyID: keyID.said}
		var err error
		if change.Secret, err = readSecret(s.input, "secret-file", *file); err != nil {
			return nil, err
		}
		return map[string]any{"client_auth_id": id, "rotated": true}, s.Clients.Rotate(ctx, owner, id, change)
	})
}

func setOrigins(flags *flag.FlagSet) action {
	var origins texts
	flags.Var(&origins, "origin",
		"token endpoint `origin` that the client secret may be sent to; may be repeated; replaces the previous list")
	return forClient(flags, func(ctx context.Context, s session, owner org.Tenant, id string) (any, error) {
		stored, err := s.Clients.SetOrigins(ctx, owner, id, origins)
		return map[string]any{"client_auth_id": id, "origins": stored}, err
	})
}

func removeClient(flags *flag.FlagSet) action {
	abandon := flags.Bool("abandon", false,
		"remove the client authentication despite connections; connections created with it can no longer be refreshed")
	return forClient(flags, func(ctx context.Context, s session, owner org.Tenant, id string) (any, error) {
		what := "This permanently removes client authentication %s."
		if *abandon {
			what += " Connections created with it can no longer be refreshed, so their patients must reconnect."
		}
		if err := s.confirm(what, id); err != nil {
			return nil, err
		}
		return map[string]any{"client_auth_id": id, "removed": true}, s.Clients.Remove(ctx, owner, id, *abandon)
	})
}

// clientOwnerFlags adds the flags that select a client's owner. The returned function fails if a mode is given for a
// shared client. If only the mode is omitted, seek determines it.
func clientOwnerFlags(flags *flag.FlagSet) func(ctx context.Context, s session, seek seeker) (org.Tenant, error) {
	owned := ownerFlags(flags)
	return func(ctx context.Context, s session, seek seeker) (org.Tenant, error) {
		isOwned := flags.Lookup("org").Value.String() != ""
		if !isOwned && given(flags, "mode") {
			if err := checkMode(flags.Lookup("mode").Value.String()); err != nil {
				return org.Tenant{}, err
			}
			return org.Tenant{}, misused("-mode requires -org; shared clients apply to both modes")
		}
		if !isOwned {
			return org.Tenant{}, nil
		}
		owner, _, err := owned(ctx, s, func(orgID string) func(org.Mode) (bool, error) {
			return func(m org.Mode) (bool, error) { return seek(ctx, s, org.Tenant{Mode: m, OrgID: orgID}) }
		})
		return owner, err
	}
}

func seekClient(id string) seeker {
	return func(ctx context.Context, s session, tenant org.Tenant) (bool, error) {
		all, err := s.Clients.List(ctx)
		return slices.ContainsFunc(all, func(c catalog.OwnedClient) bool {
			return c.Owner == tenant && c.Auth.ID == id
		}), err
	}
}

func secretFlag(flags *flag.FlagSet) *string {
	return flags.String("secret-file", "",
		"for client_secret_*: `file` with the client secret, - for standard input")
}

// maxSecretFile is the maximum size of a secret file, in bytes. Package operator validates the secret itself.
const maxSecretFile = 64 << 10

// readSecret reads the file that a flag names and trims trailing line breaks. Errors don't contain the file name,
// because the operator may have passed the secret itself by mistake.
func readSecret(input io.Reader, name, file string) (secret.Text, error) {
	if file == "" {
		return secret.Text{}, nil
	}
	if file != "-" {
		opened, err := os.Open(file) //nolint:gosec // the operator names the file
		if pathError, ok := errors.AsType[*fs.PathError](err); ok {
			err = pathError.Err
		}
		if err != nil {
			return secret.Text{}, fmt.Errorf("-%s: can't read the file: %w", name, err)
		}
		defer opened.Close()
		input = opened
	}
	body, err := io.ReadAll(io.LimitReader(input, maxSecretFile))
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathError.Err
	}
	if err != nil {
		return secret.Text{}, fmt.Errorf("read -%s: %w", name, err)
	}
	return secret.New(strings.TrimRight(string(body), "\r\n")), nil
}
