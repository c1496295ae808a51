package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	region = "us-east-1"
	// accessKey is the access key of LocalStack's only account. Any client of LocalStack has all permissions.
	accessKey = "test"
	// killAfter is the grace period after which a program that has not exited is killed.
	killAfter = 30 * time.Second
	// shownLines is the number of log lines included in an error.
	shownLines = 15
)

// findPrograms returns an error that lists any missing prerequisites: programs that are not installed, or the template.
func findPrograms(o options) error {
	var missing []error
	for program, advice := range map[string]string{
		"sam": "install the SAM CLI " +
			"(https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/install-sam-cli.html)",
		"make": "install make",
		"go":   "install Go (https://go.dev/dl)",
	} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, fmt.Errorf("%s is not installed: %s", program, advice))
		}
	}
	if _, err := os.Stat(filepath.Join(o.source, "template.yaml")); err != nil {
		missing = append(missing, fmt.Errorf("-source %s has no template.yaml: %w", o.source, err))
	}
	return errors.Join(missing...)
}

func (o options) log(program string) string {
	return strings.TrimSuffix(o.runFile, ".json") + "." + program + ".log"
}

func (o options) openLog(program string) (*os.File, error) {
	name := o.log(program)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	//nolint:gosec // beside the file that the person names
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return file, nil
}

// program returns a command that runs in a separate process group. In the terminal, Ctrl-C interrupts only the current
// process, which then stops the other programs in order.
func program(ctx context.Context, variables []string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, arguments[0], arguments[1:]...) //nolint:gosec // ours, or the person's own
	command.Env = append(withoutAWS(os.Environ()), variables...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.WaitDelay = killAfter
	return command
}

// withoutAWS removes the environment variables that would direct a program to AWS or give it the user's AWS
// credentials.
func withoutAWS(all []string) []string {
	kept := []string{
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"AWS_EC2_METADATA_DISABLED=true",
	}
	for _, v := range all {
		if !strings.HasPrefix(v, "AWS_") {
			kept = append(kept, v)
		}
	}
	return kept
}

// do runs a program to completion. If the program fails, the error includes the end of the program's log.
func (o options) do(ctx context.Context, folder string, variables []string, arguments ...string) error {
	name := filepath.Base(arguments[0]) + "-" + arguments[1]
	log, err := o.openLog(name)
	if err != nil {
		return err
	}
	command := program(ctx, variables, arguments...)
	command.Dir, command.Stdout, command.Stderr = folder, log, log
	if err = errors.Join(command.Run(), log.Close()); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", arguments[0], arguments[1], err, lastLines(o.log(name)))
	}
	return nil
}

func lastLines(file string) string {
	text, err := os.ReadFile(file) //nolint:gosec // a log of our own
	if err != nil {
		return ""
	}
	lines := strings.Split(string(bytes.TrimSpace(text)), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-shownLines):], "\n  ") + "\n  (" + file + ")"
}
