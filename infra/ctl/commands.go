package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"recordbridge/shared/ids"
	"recordbridge/shared/org"
)

// parse reads a command's flags. What is left over is not repeated in the error: it may be a secret that lost its flag.
func parse(flags *flag.FlagSet, args []string) error {
	var said strings.Builder // what is wrong, and the flags that there are
	flags.SetOutput(&said)
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return &helpError{text: strings.TrimSpace(said.String())}
	}
	if err != nil {
		return errors.New(strings.TrimSpace(said.String()))
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%s: something is left over after the flags (%d); every value needs its flag", flags.Name(), flags.NArg())
	}
	return nil
}

// helpError is what somebody has asked to be told. It is printed, and nothing has failed.
type helpError struct{ text string }

// Error implements error.
func (h *helpError) Error() string { return h.text }

// given reports whether a flag was set, be it to its default.
func given(flags *flag.FlagSet, name string) bool {
	found := false
	flags.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// needed refuses a command that lacks one of its flags, by its name.
func needed(flags *flag.FlagSet, names ...string) error {
	for _, name := range names {
		if flags.Lookup(name).Value.String() == "" {
			return fmt.Errorf("-%s is missing: %s", name, flags.Lookup(name).Usage)
		}
	}
	return nil
}

// stated refuses flags that were set to nothing, as happens with a variable of the shell that is not set, where leaving
// them out means something else.
func stated(flags *flag.FlagSet, names ...string) error {
	for _, name := range names {
		if given(flags, name) && flags.Lookup(name).Value.String() == "" {
			return fmt.Errorf("-%s is empty; leave it out if that is meant", name)
		}
	}
	return nil
}

// tenantFlags adds the flags that name an organisation in a mode.
func tenantFlags(flags *flag.FlagSet) func() (org.Tenant, error) {
	id := flags.String("org", "", "organisation id")
	mode := flags.String("mode", string(org.Test), "test or live")
	return func() (org.Tenant, error) { return tenantOf(*id, *mode) }
}

// ownerFlags adds the flags that say whose something is: an organisation's in a mode, or without -org everybody's, for
// which it returns the zero tenant.
func ownerFlags(flags *flag.FlagSet) func() (owner org.Tenant, mode string, err error) {
	id := flags.String("org", "", "id of the organisation that it belongs to (default: shared by all)")
	mode := flags.String("mode", string(org.Test), "test or live")
	return func() (org.Tenant, string, error) {
		if err := stated(flags, "org"); err != nil {
			return org.Tenant{}, "", err
		}
		if *id != "" {
			owner, err := tenantOf(*id, *mode)
			return owner, *mode, err
		}
		if _, ok := org.ParseMode(*mode); !ok {
			return org.Tenant{}, "", errors.New("-mode must be test or live")
		}
		return org.Tenant{}, *mode, nil
	}
}

func tenantOf(id, mode string) (org.Tenant, error) {
	parsed, ok := ids.ParseUUID(id)
	if !ok {
		return org.Tenant{}, errors.New("-org must be an organisation's id, as organisation list shows them")
	}
	m, ok := org.ParseMode(mode)
	if !ok {
		return org.Tenant{}, errors.New("-mode must be test or live")
	}
	return org.Tenant{Mode: m, OrgID: parsed}, nil
}

// texts is a flag that may be given several times.
type texts []string

// String implements flag.Value.
func (t *texts) String() string { return strings.Join(*t, ",") }

// Set implements flag.Value.
func (t *texts) Set(value string) error {
	*t = append(*t, value)
	return nil
}
