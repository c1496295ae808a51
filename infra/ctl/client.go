package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/operator"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
)

// readingCommand is a command that may read a secret from the input.
type readingCommand func(ctx context.Context, o *operator.Operator, input io.Reader, args []string) (any, error)

func reading(input io.Reader, c readingCommand) command {
	return func(ctx context.Context, o *operator.Operator, args []string) (any, error) {
		return c(ctx, o, input, args)
	}
}

func createClient(ctx context.Context, o *operator.Operator, input io.Reader, args []string) (any, error) {
	flags := flag.NewFlagSet("client create", flag.ContinueOnError)
	var made catalog.ClientAuth
	method := flags.String("method", "", "client_secret_basic, client_secret_post or private_key_jwt")
	flags.StringVar(&made.Algorithm, "algorithm", "", "of private_key_jwt: RS384 or ES384 (default RS384)")
	flags.StringVar(&made.KeyID, "key-id", "", "of private_key_jwt: sign with this key, a kid that keys jwks shows (default: always the current one)")
	flags.Var((*texts)(&made.Origins), "origin", "an origin that the client secret may be shown to, a token endpoint's; may be repeated")
	file := secretFlag(flags)
	owned := clientOwnerFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	owner, err := owned()
	if err != nil {
		return nil, err
	}
	made.Method = catalog.AuthMethod(*method)
	if made.Method == catalog.AuthPrivateKey && made.Algorithm == "" {
		made.Algorithm = "RS384"
	}
	plain, err := readSecret(input, "secret-file", *file)
	if err != nil {
		return nil, err
	}
	id, err := o.Clients.Create(ctx, owner, made, plain)
	return map[string]any{"client_auth_id": id}, err
}

func rotateClient(ctx context.Context, o *operator.Operator, input io.Reader, args []string) (any, error) {
	flags := flag.NewFlagSet("client rotate", flag.ContinueOnError)
	id := flags.String("id", "", "what client create printed as client_auth_id")
	keyID := flags.String("key-id", "", `of private_key_jwt: sign with this key from now on; "" for always the current one`)
	file := secretFlag(flags)
	owned := clientOwnerFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	owner, err := owned()
	if err != nil {
		return nil, err
	}
	var change operator.Rotation
	if given(flags, "key-id") {
		change.KeyID = keyID
	}
	if change.Secret, err = readSecret(input, "secret-file", *file); err != nil {
		return nil, err
	}
	return map[string]any{"client_auth_id": *id, "rotated": true}, o.Clients.Rotate(ctx, owner, *id, change)
}

func setOrigins(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("client origins", flag.ContinueOnError)
	id := flags.String("id", "", "what client create printed as client_auth_id")
	var origins texts
	flags.Var(&origins, "origin", "an origin that the client secret may be shown to, a token endpoint's; may be repeated, and replaces those before")
	owned := clientOwnerFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	owner, err := owned()
	if err != nil {
		return nil, err
	}
	if err = needed(flags, "id", "origin"); err != nil {
		return nil, err
	}
	stored, err := o.Clients.SetOrigins(ctx, owner, *id, origins)
	return map[string]any{"client_auth_id": *id, "origins": stored}, err
}

// clientOwnerFlags are ownerFlags of something that has no mode when it is everybody's.
func clientOwnerFlags(flags *flag.FlagSet) func() (org.Tenant, error) {
	owned := ownerFlags(flags)
	return func() (org.Tenant, error) {
		owner, _, err := owned()
		if err == nil && owner == (org.Tenant{}) && given(flags, "mode") {
			return org.Tenant{}, errors.New("-mode goes with -org; a client that all organisations share is for both modes")
		}
		return owner, err
	}
}

func secretFlag(flags *flag.FlagSet) *string {
	return flags.String("secret-file", "", "of client_secret_*: the file that holds the client secret, - for standard input")
}

// maxSecretFile bounds what is read; what a secret may be, the operator package says.
const maxSecretFile = 64 << 10

// readSecret reads the file of a flag without the line breaks at its end. Its errors do not repeat the file's name: it may
// be a secret that somebody took for the flag's value.
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
			return secret.Text{}, fmt.Errorf("-%s names a file that cannot be read: %w", name, err)
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
