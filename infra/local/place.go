package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"strings"

	"recordbridge/infra/local/build"
	"recordbridge/infra/local/engine"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/local/sam"
)

// place specifies where functions run: as processes on this machine or, if engine is set, in containers.
type place struct {
	engine   *engine.Engine
	platform build.Platform
	binaries string // directory that contains <function>/bootstrap
}

// findPlace determines from o where the functions run. If a required program is missing, the error names the program.
func findPlace(ctx context.Context, o options, progress io.Writer) (place, error) {
	if !o.sam {
		return place{binaries: o.binaries}, nil
	}
	if err := sam.FindCLI(); err != nil {
		return place{}, err
	}
	found, err := engine.Find(ctx, o.host, progress)
	if err != nil {
		return place{}, err
	}
	platform := build.Platform{OS: "linux", Architecture: found.Architecture}
	binaries, err := filepath.Abs(platform.Folder(o.binaries)) // containers mount this directory
	if err != nil {
		return place{}, fmt.Errorf("-bin: %w", err)
	}
	return place{engine: found, platform: platform, binaries: binaries}, nil
}

func (p place) name() string {
	if p.engine == nil {
		return runfile.Embedded
	}
	return runfile.SAMLocal
}

// host returns this machine's address for containers, or an invalid address if there is no engine.
func (p place) host() netip.Addr {
	if p.engine == nil {
		return netip.Addr{}
	}
	return p.engine.Host
}

// public returns the listener's host and port for all clients, whether inside or outside containers. If functions run
// in containers, the host is localhost, which refers to this machine in both environments and is allowed in http
// webhook URLs.
func (p place) public(listener string) string {
	if p.engine == nil {
		return listener
	}
	return net.JoinHostPort("localhost", port(listener))
}

// named replaces a loopback address in a URL with localhost, because passkeys require a host name (WebAuthn section
// 5.1.2). Other URLs are returned unchanged.
func named(url string) string {
	for _, address := range []string{"127.0.0.1", "[::1]"} {
		if rest, ok := strings.CutPrefix(url, "http://"+address+":"); ok {
			return "http://localhost:" + rest
		}
	}
	return url
}

// inside returns the address at which functions reach the listener.
func (p place) inside(listener string) string {
	if p.engine == nil {
		return listener
	}
	return net.JoinHostPort(p.engine.Host.String(), port(listener))
}

func port(listener string) string { return listener[strings.LastIndexByte(listener, ':')+1:] }
