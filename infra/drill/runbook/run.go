package runbook

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// AWS directs the AWS CLI to the local stack. Version 1 of the AWS CLI ignores AWS_ENDPOINT_URL for SQS.
const AWS = `aws() { command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }
`

// preamble makes a script stop at its first failure, including undefined variables.
const preamble = "set -euo pipefail\n" + AWS

// Run runs a section's commands in bash, in the folder root, with further environment variables, and returns their
// output. If a command fails, the error contains the script's output.
func (s Section) Run(ctx context.Context, root string, variables map[string]string) (string, error) {
	command := exec.CommandContext(ctx, "bash", "-c", preamble+s.Script) //nolint:gosec // our own documents
	command.Dir, command.WaitDelay = root, time.Second
	command.Env = os.Environ()
	for name, value := range variables {
		command.Env = append(command.Env, name+"="+value)
	}
	var stdout, all bytes.Buffer
	command.Stdout, command.Stderr = &both{&stdout, &all}, &all
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s, %q: %w\n%s", s.Page, s.Heading, err, strings.TrimSpace(all.String()))
	}
	return stdout.String(), nil
}

// NeedsAWS reports whether the section's commands call the AWS CLI, directly or to look up a resource.
func (s Section) NeedsAWS() bool {
	return strings.Contains(s.Script, "aws ") || strings.Contains(s.Script, "$(resource ")
}

// both writes to two buffers. The shell's processes write to it one at a time.
type both struct{ one, other *bytes.Buffer }

// Write implements io.Writer.
func (b *both) Write(text []byte) (int, error) {
	b.one.Write(text)
	return b.other.Write(text)
}
