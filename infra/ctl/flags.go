package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// usageError reports an invalid command line. If a usageError is returned, the command did not run.
type usageError struct{ cause error }

func (u *usageError) Error() string { return u.cause.Error() }

func (u *usageError) Unwrap() error { return u.cause }

func misused(format string, args ...any) error {
	return &usageError{cause: fmt.Errorf(format, args...)}
}

// parse parses the flags of a command. If operands is set, arguments after the flags are allowed. Errors don't contain
// unexpected arguments, because an argument may be a secret whose flag is missing. If the user requests help, parse
// returns flag.ErrHelp.
func parse(flags *flag.FlagSet, args []string, operands bool) error {
	flags.SetOutput(io.Discard)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 && !operands {
		return fmt.Errorf("%s: unexpected arguments after the flags (%d); every value requires a flag", flags.Name(),
			flags.NArg())
	}
	return refuseEmptyFlags(flags)
}

// refuseEmptyFlags returns an error if the value of any flag is empty. Empty values usually come from unset shell
// variables.
func refuseEmptyFlags(flags *flag.FlagSet) error {
	var err error
	flags.Visit(func(f *flag.Flag) {
		if _, may := f.Value.(*mayBeEmpty); !may && strings.TrimSpace(f.Value.String()) == "" {
			err = misused("-%s is empty; check whether a shell variable is unset", f.Name)
		}
	})
	return err
}

// needed returns an error that names the first required flag that is missing.
func needed(flags *flag.FlagSet, names ...string) error {
	for _, name := range names {
		if !given(flags, name) {
			_, usage := flag.UnquoteUsage(flags.Lookup(name))
			return misused("-%s is required: %s", name, usage)
		}
	}
	return nil
}

// given reports whether a flag was set on the command line, even to its default value.
func given(flags *flag.FlagSet, name string) bool {
	found := false
	flags.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// naming adds the flag's name to an error about its value. A flag for an ID is named after the ID's object, or -id in
// commands with only one kind of object.
func naming(flags *flag.FlagSet, err error) error {
	for _, name := range []string{fault.Of(err).Field, "id"} {
		if fault.Of(err).Field != "" && flags.Lookup(name) != nil {
			return fmt.Errorf("-%s: %w", name, err)
		}
	}
	return err
}

// forTenant returns an action that operates on a tenant: an organisation in one mode. If -mode is omitted, seek
// determines the mode.
func forTenant(flags *flag.FlagSet, seek seeker,
	do func(ctx context.Context, s session, tenant org.Tenant) (any, error),
) action {
	id := flags.String("org", "", "organisation `id`, or its name or the name's first letters")
	mode := flags.String("mode", "", "`test` or live (default: the only mode that applies)")
	return func(ctx context.Context, s session) (any, error) {
		tenant, err := s.tenant(ctx, *id, *mode, seek)
		if err != nil {
			return nil, err
		}
		return do(ctx, s, tenant)
	}
}

// forOrganisation returns an action that operates on an organisation in both modes. The action calls do with the
// organisation's live tenant.
func forOrganisation(flags *flag.FlagSet,
	do func(ctx context.Context, s session, tenant org.Tenant) (any, error),
) action {
	id := flags.String("org", "", "organisation `id`, or its name or the name's first letters")
	return func(ctx context.Context, s session) (any, error) {
		tenant, err := s.tenant(ctx, *id, string(org.Live), nil)
		if err != nil {
			return nil, err
		}
		return do(ctx, s, tenant)
	}
}

// ownerFlags adds the flags that select an object's owner. Without -org, the object is shared and the owner is the zero
// tenant. The returned function takes a question that determines the mode if -mode is omitted.
func ownerFlags(flags *flag.FlagSet) func(
	ctx context.Context, s session, has func(orgID string) func(org.Mode) (bool, error),
) (owner org.Tenant, mode string, err error) {
	id := flags.String("org", "", "`id` or name of the owning organisation (default: shared by all organisations)")
	mode := flags.String("mode", "", "`test` or live (default: the only mode that applies)")
	return func(
		ctx context.Context, s session, has func(orgID string) func(org.Mode) (bool, error),
	) (org.Tenant, string, error) {
		if *mode != "" {
			if err := checkMode(*mode); err != nil {
				return org.Tenant{}, "", err
			}
		}
		var orgID string
		var err error
		if *id != "" {
			if orgID, err = s.organisation(ctx, *id); err != nil {
				return org.Tenant{}, "", err
			}
		}
		chosen := org.Mode(*mode)
		if chosen == "" && has != nil {
			if chosen, err = s.onlyMode(has(orgID)); err != nil {
				return org.Tenant{}, "", err
			}
		}
		if orgID == "" {
			return org.Tenant{}, string(chosen), nil
		}
		return org.Tenant{Mode: chosen, OrgID: orgID}, string(chosen), nil
	}
}

// checkMode returns a usageError unless text is a mode.
func checkMode(text string) error {
	if _, ok := org.ParseMode(text); !ok {
		return misused("-mode must be test or live")
	}
	return nil
}

// exclusive returns an error if both flags of a pair were given.
func exclusive(flags *flag.FlagSet, pairs ...[2]string) error {
	for _, both := range pairs {
		if given(flags, both[0]) && given(flags, both[1]) {
			return misused("-%s and -%s can't be combined", both[0], both[1])
		}
	}
	return nil
}

type texts []string

// String implements flag.Value.
func (t *texts) String() string { return strings.Join(*t, ",") }

// Set implements flag.Value.
func (t *texts) Set(value string) error {
	if strings.TrimSpace(value) == "" {
		return errors.New("the value is empty; check whether a shell variable is unset")
	}
	*t = append(*t, value)
	return nil
}

// mayBeEmpty is a flag that also accepts an empty value, which resets a setting.
type mayBeEmpty struct {
	said *string // nil if the flag was not given
}

// String implements flag.Value.
func (m *mayBeEmpty) String() string {
	if m.said == nil {
		return ""
	}
	return *m.said
}

// Set implements flag.Value.
func (m *mayBeEmpty) Set(value string) error {
	m.said = &value
	return nil
}

// optional returns a flag's value, or nil if the flag was not given.
func optional(flags *flag.FlagSet, name string) *string {
	if !given(flags, name) {
		return nil
	}
	value := flags.Lookup(name).Value.String()
	return &value
}
