// Package engine finds the container engine of this machine, reports what is missing if there is none, and runs
// commands of its client. The caller owns the containers that it starts.
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

// image is the base image of the CLI's containers, with SAM's name of the architecture.
const image = "public.ecr.aws/lambda/provided:al2023-"

// alias is a name for this machine inside the container that determines its address.
const alias = "runner.internal"

var (
	errNoDocker = errors.New("functions in containers need a container engine, and there is no docker command here: " +
		"install Docker (https://docs.docker.com/get-docker/)")
	errNoAddress = errors.New("a container does not see at which address this machine is: give it with -container-host")
)

// Engine is the container engine of this machine.
type Engine struct {
	Architecture string     // of its containers, in Go's names
	Host         netip.Addr // address of this machine from containers
}

// Find queries the engine, and runs a container to check that it works and, unless host is given, to determine this
// machine's address. Its error states the remedy. Find pulls a missing image and reports that to progress.
func Find(ctx context.Context, host netip.Addr, progress io.Writer) (*Engine, error) {
	if _, err := exec.LookPath("docker"); err != nil {
		return nil, errNoDocker
	}
	architecture, err := Run(ctx, "version", "--format", "{{.Server.Arch}}")
	if err != nil {
		return nil, fmt.Errorf("the container engine does not answer: start it (%w)", err)
	}
	e := &Engine{Architecture: architecture, Host: host}
	base := image + SAMArchitecture(architecture)
	if _, err = Run(ctx, "image", "inspect", "--format", "{{.Id}}", base); err != nil {
		_, _ = fmt.Fprintf(progress, "Pulling %s\n", base) // a closed terminal does not stop the pull
		if _, err = Run(ctx, "pull", "--quiet", base); err != nil {
			return nil,
				fmt.Errorf("the image %s is not here and cannot be pulled: `.ci/engine up .local/engine` makes one (%w)", base, err)
		}
	}
	hosts, err := Run(ctx, "run", "--rm", "--add-host", alias+":host-gateway", "--entrypoint", "cat", base, "/etc/hosts")
	if err != nil {
		return nil, fmt.Errorf("a container of %s does not run here: `docker pull --platform linux/%s %s` gets the one for "+
			"this machine (%w)",
			base, architecture, base, err)
	}
	if !e.Host.IsValid() {
		if e.Host = gateway(hosts); !e.Host.IsValid() {
			return nil, errNoAddress
		}
	}
	return e, nil
}

// gateway returns the IPv4 address of this machine in the hosts file of a container (hosts(5)).
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

// SAMArchitecture returns SAM's name of an architecture.
func SAMArchitecture(architecture string) string {
	if architecture == "amd64" {
		return "x86_64"
	}
	return architecture
}

// Run runs a command of the docker client and returns its output. The error is the last line of the output, which
// states the cause.
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
