package webhook

import (
	"io"

	"recordbridge/shared/words/secret"
)

// Processes is processes, for tests.
const Processes = processes

// NewSecret is newSecret, for tests.
func NewSecret(random io.Reader) (secret.Text, error) { return newSecret(random) }
