package webhook

import (
	"io"

	"recordbridge/shared/words/secret"
)

// Processes exports processes to tests.
const Processes = processes

// NewSecret exports newSecret to tests.
func NewSecret(random io.Reader) (secret.Text, error) { return newSecret(random) }
