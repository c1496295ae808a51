// Package engine detects this machine's container engine and runs its client commands. If no engine is installed, the
// package reports what is missing. Callers are responsible for the containers that they start.
package engine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os/exec"
	"strings"
)

// image is the name of the base image for the SAM CLI's containers, without the architecture. The full name ends with
// SAM's name for the architecture.
const image = "public.ecr.aws/lambda/provided:al2023-"

// alias is this machine's host name inside the container that Find runs to determine the machine's address.
const alias = "runner.internal"

var (
	errNoDocker = errors.New("functions in containers need a container engine, but the docker command is missing: " +
		"install Docker (https://docs.docker.com/get-docker/)")
	errNoAddress = errors.New("containers can't determine this machine's address: set it with -container-host")
)

// Engine describes this machine's container engine.
type Engine struct {
	Architecture string     // architecture of the engine's containers, in Go's names
	Host         netip.Addr // this machine's address as seen from containers
}

// Find queries the engine and runs a container to check that the engine works. If host is empty, Find uses the
// container to determine this machine's address. If the base image is missing, Find pulls it and reports this to
// progress. Errors state how to fix the problem.
func Find(ctx context.Context, host netip.Addr, progress io.Writer) (*Engine, error) {
	if _, err := exec.LookPath("docker"); err != nil {
		return nil, errNoDocker
	}
	architecture, err := Run(ctx, "version", "--format", "{{.Server.Arch}}")
	if err != nil {
		return nil, fmt.Errorf("the container engine does not respond: start it (%w)", err)
	}
	e := &Engine{Architecture: architecture, Host: host}
	base := image + SAMArchitecture(architecture)
	if _, err = Run(ctx, "image", "inspect", "--format", "{{.Id}}", base); err != nil {
		_, _ = fmt.Fprintf(progress, "Pulling %s\n", base) // a closed terminal must not stop the pull
		if _, err = Run(ctx, "pull", "--quiet", base); err != nil {
			return nil,
				fmt.Errorf("the image %s is missing and can't be pulled: run `.ci/engine up .local/engine` to build "+
					"it (%w)", base, err)
		}
	}
	hosts, err := Run(ctx, "run", "--rm", "--add-host", alias+":host-gateway", "--entrypoint", "cat", base, "/etc/hosts")
	if err != nil {
		return nil, fmt.Errorf("a container of %s does not run here: `docker pull --platform linux/%s %s` fetches the "+
			"image for this machine (%w)", base, architecture, base, err)
	}
	if !e.Host.IsValid() {
		if e.Host = gateway(hosts); !e.Host.IsValid() {
			return nil, errNoAddress
		}
	}
	return e, nil
}

// gateway returns this machine's IPv4 address, read from a container's hosts file (hosts(5)).
func gateway(hosts string) netip.Addr {
	for line := range strings.Lines(hosts) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[1] == alias {
			if address, err := netip.ParseAddr(fields[0]); err == nil && address.Is4() {
				return address
			}
		}
	}
	return netip.Addr{}
}

// SAMArchitecture returns SAM's name for an architecture.
func SAMArchitecture(architecture string) string {
	if architecture == "amd64" {
		return "x86_64"
	}
	return architecture
}

// Run runs a docker client command and returns its output. If the command fails, the error is the last line of its
// error output, which gives the cause.
func Run(ctx context.Context, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "docker", arguments...) //nolint:gosec // our own arguments
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		said := err.Error()
		for lines := bufio.NewScanner(&stderr); lines.Scan(); {
			if line := strings.TrimSpace(lines.Text()); line != "" {
				said = line
			}
		}
		return "", errors.New(said) //nolint:err113 // docker's own words
	}
	return strings.TrimSpace(stdout.String()), nil
}
