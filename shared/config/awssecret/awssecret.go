// Package awssecret reads secrets from Secrets Manager. It is apart from package config so that only functions that
// have a secret link its client; it keeps nothing, callers read once per cold start.
package awssecret

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"recordbridge/shared/secret"
)

// Getter is the part of the Secrets Manager client that is used.
type Getter interface {
	GetSecretValue(ctx context.Context, in *secretsmanager.GetSecretValueInput, options ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

// Keyring reads the keyring that the secret called name (or with that ARN) holds; see secret.ParseKeyring for its
// form. The error never shows any of it.
func Keyring(ctx context.Context, client Getter, name string) (secret.Keyring, error) {
	out, err := client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String(name)})
	if err != nil {
		return secret.Keyring{}, fmt.Errorf("read secret %s: %w", name, err)
	}
	ring, err := secret.ParseKeyring(secret.New(aws.ToString(out.SecretString)))
	if err != nil {
		return secret.Keyring{}, fmt.Errorf("secret %s: %w", name, err)
	}
	return ring, nil
}
