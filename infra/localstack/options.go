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

// options holds the command line.
type options struct {
	address string // of the API and the inbox
	aws     string // of LocalStack
	// release names the deployed release, so that an update creates a new version of every function; it is empty if there
	// is only one.
	release string
	source  string // folder to deploy
	// previous is the folder of the release to deploy first, for testing the upgrade; it is empty without an upgrade.
	previous string
	runFile  string     // describes the running stack to other programs
	host     netip.Addr // address of this machine for containers
	command  []string   // runs LocalStack on this machine instead of in a container
}

func parse(arguments []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("localstack", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.address, "addr", "127.0.0.1:4580", "loopback address of the API and the inbox")
	flags.StringVar(&o.aws, "aws", "127.0.0.1:4566", "loopback address of LocalStack")
	flags.StringVar(&o.source, "source", ".", "folder of the template that is deployed and of its functions")
	flags.StringVar(&o.previous, "upgrade-from", "",
		"deploy this folder first, upgrade while there is work, and end when that is seen to be done")
	flags.StringVar(&o.runFile, "run-file", ".local/run.json", "write there what is running, for other programs")
	flags.TextVar(&o.host, "container-host", netip.Addr{},
		"address at which containers reach this machine (default: asks a container)")
	command := flags.String("command", "",
		"program that runs LocalStack on this machine, with its arguments (default: its public image in a container)")
	if err := flags.Parse(arguments); err != nil {
		return options{}, fmt.Errorf("command line: %w", err)
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("command line: %q is no flag", flags.Arg(0))
	}
	var err error
	if o.runFile, err = filepath.Abs(o.runFile); err != nil { // other folders also use it
		return options{}, fmt.Errorf("-run-file: %w", err)
	}
	o.command = strings.Fields(*command)
	for name, address := range map[string]string{"addr": o.address, "aws": o.aws} {
		host, port, err := net.SplitHostPort(address)
		if ip, notIP := netip.ParseAddr(host); err != nil || notIP != nil || !ip.IsLoopback() || port == "0" {
			return options{}, fmt.Errorf("-%s %s: want a loopback address and a port, such as 127.0.0.1:4566", name, address)
		}
	}
	return o, nil
}

// port returns the port of an address that parse has accepted.
func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }
