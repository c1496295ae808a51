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

// place is where the functions run: as processes of this machine, or, with an engine, in containers.
type place struct {
	engine   *engine.Engine
	platform build.Platform // of the functions
	binaries string         // folder of <function>/bootstrap
}

// findPlace finds out where the functions run as o says. Its error says what is missing for it.
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
	binaries, err := filepath.Abs(platform.Folder(o.binaries)) // containers mount it
	if err != nil {
		return place{}, fmt.Errorf("-bin: %w", err)
	}
	return place{engine: found, platform: platform, binaries: binaries}, nil
}

// name is how the stack calls itself.
func (p place) name() string {
	if p.engine == nil {
		return runfile.Embedded
	}
	return runfile.SAMLocal
}

// host is where containers reach this machine; it is invalid when there are none.
func (p place) host() netip.Addr {
	if p.engine == nil {
		return netip.Addr{}
	}
	return p.engine.Host
}

// public is the address at which everybody reaches what is listened for at listener, whether inside of a container or
// not: localhost is this machine in both, and a name that http webhooks may have.
func (p place) public(listener string) string {
	if p.engine == nil {
		return listener
	}
	return net.JoinHostPort("localhost", port(listener))
}

// named is a URL of this machine by the name that everybody has for it, since an address has no passkeys (WebAuthn
// section 5.1.2). What localhost does not lead to stays as it is.
func named(url string) string {
	for _, address := range []string{"127.0.0.1", "[::1]"} {
		if rest, ok := strings.CutPrefix(url, "http://"+address+":"); ok {
			return "http://localhost:" + rest
		}
	}
	return url
}

// inside is the address at which functions reach what is listened for at listener.
func (p place) inside(listener string) string {
	if p.engine == nil {
		return listener
	}
	return net.JoinHostPort(p.engine.Host.String(), port(listener))
}

// port is that of the address of a listener.
func port(listener string) string { return listener[strings.LastIndexByte(listener, ':')+1:] }
