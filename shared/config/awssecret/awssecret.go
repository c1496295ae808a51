// Package awssecret reads secrets from Secrets Manager. It is apart from package config so that only functions that
// have a secret link it; it keeps nothing, callers read once per cold start.
package awssecret

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"recordbridge/shared/config/awscall"
	"recordbridge/shared/secret"
)

// Keyring reads the keyring that the secret called name (or with that ARN) holds (Secrets Manager API Reference, GetSecretValue);
// see secret.ParseKeyring for its form. The error never shows any of it.
func Keyring(ctx context.Context, cfg aws.Config, now func() time.Time, name string) (secret.Keyring, error) {
	var out struct{ SecretString string }
	get := awscall.Operation{Service: "secretsmanager", SDKID: "SECRETS_MANAGER", Target: "secretsmanager.GetSecretValue"}
	if err := awscall.JSON(ctx, cfg, now, get, map[string]string{"SecretId": name}, &out); err != nil {
		return secret.Keyring{}, fmt.Errorf("read secret %s: %w", name, err)
	}
	ring, err := secret.ParseKeyring(secret.New(out.SecretString))
	if err != nil {
		return secret.Keyring{}, fmt.Errorf("secret %s: %w", name, err)
	}
	return ring, nil
}
