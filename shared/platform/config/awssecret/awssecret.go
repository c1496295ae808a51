// Package awssecret reads secrets from Secrets Manager. It is separate from package config so that only functions that
// read a secret link it. The package doesn't cache secrets: callers read each secret once per cold start.
package awssecret

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"recordbridge/shared/platform/config/awscall"
	"recordbridge/shared/words/secret"
)

// Text returns the value of the secret with the given name or ARN (Secrets Manager API Reference, GetSecretValue).
// Errors never contain any part of the value.
func Text(ctx context.Context, cfg aws.Config, now func() time.Time, name string) (secret.Text, error) {
	var out struct{ SecretString string }
	get := awscall.Operation{Service: "secretsmanager", SDKID: "Secrets Manager", Target: "secretsmanager.GetSecretValue"}
	if err := awscall.JSON(ctx, cfg, now, get, map[string]string{"SecretId": name}, &out); err != nil {
		return secret.Text{}, fmt.Errorf("read secret %s: %w", name, err)
	}
	return secret.New(out.SecretString), nil
}

// Keyring returns the keyring stored in the secret with the given name or ARN. See secret.ParseKeyring for the format.
func Keyring(ctx context.Context, cfg aws.Config, now func() time.Time, name string) (secret.Keyring, error) {
	text, err := Text(ctx, cfg, now, name)
	if err != nil {
		return secret.Keyring{}, err
	}
	ring, err := secret.ParseKeyring(text)
	if err != nil {
		return secret.Keyring{}, fmt.Errorf("secret %s: %w", name, err)
	}
	return ring, nil
}
