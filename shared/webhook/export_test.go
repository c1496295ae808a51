package webhook

import (
	"io"

	"recordbridge/shared/secret"
)

// NewSecret is newSecret, for tests.
func NewSecret(random io.Reader) (secret.Text, error) { return newSecret(random) }
