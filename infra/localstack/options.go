package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
)

type options struct {
	address string // listen address of the API and the inbox
	aws     string // address on which LocalStack listens
	// release is the name of the release to deploy. If release changes, an update creates a new version of every
	// function.
	release string
	source  string // folder containing the release to deploy
	// previous is the folder of the release that an upgrade test deploys first; it is empty outside upgrade tests.
	previous string
	runFile  string     // path of the file that describes the running stack to other programs
	host     netip.Addr // address at which containers reach this machine
	command  []string   // command that runs LocalStack on this machine; empty to use a container
}

func parse(arguments []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("localstack", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.address, "addr", "127.0.0.1:4580", "loopback address for the API and the inbox")
	flags.StringVar(&o.aws, "aws", "127.0.0.1:4566", "loopback address for LocalStack")
	flags.StringVar(&o.source, "source", ".", "folder with the template to deploy and its functions")
	flags.StringVar(&o.previous, "upgrade-from", "",
		"deploy this folder first, upgrade it with work in progress, and exit once that work is complete")
	flags.StringVar(&o.runFile, "run-file", ".local/run.json", "file that describes the running stack for other "+
		"programs")
	flags.TextVar(&o.host, "container-host", netip.Addr{},
		"address at which containers reach this machine (default: detected with a container)")
	command := flags.String("command", "",
		"command that runs LocalStack on this machine (default: its public image in a container)")
	if err := flags.Parse(arguments); err != nil {
		return options{}, fmt.Errorf("command line: %w", err)
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("command line: %q is not a flag", flags.Arg(0))
	}
	var err error
	if o.runFile, err = filepath.Abs(o.runFile); err != nil { // absolute, for programs in other directories
		return options{}, fmt.Errorf("-run-file: %w", err)
	}
	o.command = strings.Fields(*command)
	for name, address := range map[string]string{"addr": o.address, "aws": o.aws} {
		host, port, err := net.SplitHostPort(address)
		if ip, notIP := netip.ParseAddr(host); err != nil || notIP != nil || !ip.IsLoopback() || port == "0" {
			return options{}, fmt.Errorf("-%s %s: must be a loopback address and a port, such as "+
				"127.0.0.1:4566", name, address)
		}
	}
	return o, nil
}

// port returns the port of an address that parse has validated.
func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }
