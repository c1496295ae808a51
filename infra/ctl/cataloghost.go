package main

import (
	"context"
	"flag"
	"slices"

	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/publish"
	"recordbridge/shared/manage/operator"
)

// mostHosts is the default number of pending hosts to print.
const mostHosts = 25

func hostCommands() []command {
	return []command{{
		name: "catalog hosts", declare: decideHosts,
		flags: "-mode test|live (-host HOST | -source SOURCE | -host HOST -source SOURCE) -allow\n" +
			"-mode test|live (-host HOST | -source SOURCE) -refuse\n" +
			"-mode test|live -host HOST (-allow-every-brand | -undo)",
		help: "Approves or rejects the servers waiting at a host, or at all hosts that a source names",
	}}
}

func hostFlags(flags *flag.FlagSet) *operator.HostChoice {
	choice := &operator.HostChoice{}
	flags.StringVar(&choice.Host, "host", "", "`host` as catalog diff shows it")
	flags.StringVar(&choice.Source, "source", "", "`id` of the source that names the hosts")
	return choice
}

func decideHosts(flags *flag.FlagSet) action {
	moded, choice := modeFlag(flags), hostFlags(flags)
	allow := flags.Bool("allow", false, "approve the waiting servers")
	refuse := flags.Bool("refuse", false, "reject the host, or all hosts that are waiting because of the source")
	every := flags.Bool("allow-every-brand", false,
		"let every institution have servers at the host, now and later; use this flag for a vendor's host")
	undo := flags.Bool("undo", false, "remove all decisions about the host; published servers stay published")
	return func(ctx context.Context, s session) (any, error) {
		mode, err := moded(ctx, s)
		if err != nil {
			return nil, err
		}
		shown := map[string]any{"mode": mode, "next": "catalog publish"}
		switch {
		case *choice == (operator.HostChoice{}):
			return nil, misused("set -host or -source; to see the waiting hosts, run catalog diff")
		case countGiven(flags, "allow", "refuse", "allow-every-brand", "undo") != 1:
			return nil, misused("set one of -allow, -refuse, -allow-every-brand and -undo")
		case (*every || *undo) && (choice.Host == "" || choice.Source != ""):
			return nil, misused("-allow-every-brand and -undo can be used only with -host")
		case *every:
			shown["every_brand"] = choice.Host
			return shown, s.CatalogOverrides.AllowEveryBrand(ctx, mode, choice.Host)
		case *undo:
			shown["forgotten"] = choice.Host
			return shown, s.CatalogOverrides.ForgetHost(ctx, mode, choice.Host)
		}
		var hosts []string
		if *allow {
			hosts, err = s.CatalogOverrides.AllowHosts(ctx, mode, *choice)
			shown["allowed"] = hosts
		} else if *refuse {
			hosts, err = s.CatalogOverrides.RefuseHosts(ctx, mode, *choice)
			shown["refused"] = hosts
		}
		return shown, err
	}
}

// hostsShown adds the hosts awaiting approval to shown, starting with those that have the most servers.
func hostsShown(shown map[string]any, waiting []compose.Wait, choice *operator.HostChoice, limit int) map[string]any {
	waiting = slices.DeleteFunc(slices.Clone(waiting), func(w compose.Wait) bool { return !choice.Has(w) })
	if len(waiting) == 0 {
		return shown
	}
	hosts := publish.ByHost(waiting)
	shown["hosts_wait"] = map[string]any{
		"hosts": len(hosts), "servers": len(waiting), "first": hosts[:min(limit, len(hosts))],
		"do": "catalog hosts -allow -host HOST, or -source SOURCE for every host in a list; -refuse for wrong hosts",
	}
	return shown
}
