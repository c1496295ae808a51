package webhook

import (
	"io"

	"recordbridge/shared/words/secret"
)

const Processes = processes

func NewSecret(random io.Reader) (secret.Text, error) { return newSecret(random) }
