package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	shipped "recordbridge/infra/catalog"
	"recordbridge/infra/local/faults"
)

var errDataDir = errors.New("SANDBOX_DATA_DIR: containers can't access folders of this machine; unset the variable")

type options struct {
	address    string
	data       string
	faults     *faults.Plan
	binaries   string
	runFile    string // file that describes the running stack for other programs
	build      bool
	seed       bool
	catalog    shipped.Choice
	sam        bool       // true to run functions in containers
	host       netip.Addr // this machine's address for containers; detected if invalid
	parameters parameters
}

// parameters is a repeatable flag for template parameters.
type parameters map[string]string

// String implements flag.Value.
func (p parameters) String() string { return "" }

// Set implements flag.Value.
func (p parameters) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("want Key=Value")
	}
	p[name] = value
	return nil
}

func parse(arguments []string, stderr io.Writer) (options, error) {
	o := options{parameters: parameters{}, catalog: shipped.Sandbox}
	flags := flag.NewFlagSet("local", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.address, "addr", "127.0.0.1:4566", "loopback address to listen on; port 0 chooses a free port")
	flags.StringVar(&o.data, "data", "", "keep the data in this folder (default: in memory)")
	chaos := flags.String("faults", "",
		"inject faults that AWS has on a bad day; the number selects the faults, such as 42 or 42:harsh")
	flags.BoolVar(&o.sam, "sam", false, "run the functions in containers with sam local start-lambda")
	flags.TextVar(&o.host, "container-host", netip.Addr{},
		"`address` at which containers reach this machine (default: from the container engine)")
	flags.StringVar(&o.binaries, "bin", "build", "folder that contains the binaries, <function>/bootstrap")
	flags.StringVar(&o.runFile, "run-file", ".local/run.json", "file that describes the running stack for other "+
		"programs")
	noBuild := flags.Bool("no-build", false, "use the existing binaries without building")
	flags.BoolVar(&o.seed, "seed", true, "create sample organisations")
	institutions := "`institutions` to search for in test mode: none, sandbox, or us, which adds a synthetic list " +
		"the size of the United States' (default \"sandbox\")"
	flags.Func("catalog", institutions, func(text string) (err error) {
		o.catalog, err = shipped.ParseChoice(text)
		return err
	})
	flags.Var(o.parameters, "param", "template parameter as Key=Value; may be repeated")
	if err := flags.Parse(arguments); err != nil {
		return options{}, fmt.Errorf("command line: %w", err)
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("command line: %q is not a flag", flags.Arg(0))
	}
	if *chaos != "" {
		var err error
		if o.faults, err = faults.Parse(*chaos); err != nil {
			return options{}, fmt.Errorf("command line: %w", err)
		}
	}
	if host, _, err := net.SplitHostPort(o.address); err != nil || !isLoopback(host) {
		return options{}, fmt.Errorf("-addr %s: must be a loopback address and a port, such as "+
			"127.0.0.1:4566", o.address)
	}
	o.build = !*noBuild
	return o, nil
}

// templateParameters returns a local stack's template parameters, including any overrides from the command line.
// Portals, webhooks and the sandbox run on this machine, so functions may call loopback addresses and, if it is valid,
// host (this machine's address for containers).
func (o options) templateParameters(baseURL, dashboardURL, furtherURLs, release string,
	host netip.Addr,
) (map[string]string, error) {
	ranges := "127.0.0.0/8,::1/128"
	if host.IsValid() {
		ranges += "," + netip.PrefixFrom(host, host.BitLen()).String()
	}
	all := map[string]string{
		"Release":              release,
		"PublicBaseUrl":        baseURL,
		"DashboardUrl":         dashboardURL,
		"FurtherUrls":          furtherURLs,
		"EnableSandbox":        "true",
		"MailFrom":             "notices@localhost.example",
		"SupportMail":          "support@localhost.example",
		"AllowedPrivateRanges": ranges,
		"EndpointProbes":       "private", // a laptop must not probe servers on the internet
	}
	if folder := os.Getenv("SANDBOX_DATA_DIR"); folder != "" {
		if o.sam {
			return nil, errDataDir
		}
		absolute, err := filepath.Abs(folder) // functions run in their own directories and need an absolute path
		if err != nil {
			return nil, fmt.Errorf("SANDBOX_DATA_DIR: %w", err)
		}
		all["SandboxDataDir"] = absolute
	}
	maps.Copy(all, o.parameters)
	return all, nil
}

// isLoopback reports whether host always refers to this machine, regardless of DNS.
func isLoopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
