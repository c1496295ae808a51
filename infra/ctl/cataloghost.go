package main

import (
	"context"
	"flag"
	"slices"

	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/publish"
	"recordbridge/shared/manage/operator"
)

// mostHosts is the default number of waiting hosts to show.
const mostHosts = 25

func hostCommands() []command {
	return []command{
		{
			name: "catalog allow", flags: "-mode test|live (-host HOST [-source SOURCE] | -source SOURCE | -host HOST " +
				"-every-brand | -host HOST -undo)", declare: allowHosts,
			help: "Lets in what waits now at a host, or at all hosts that a source names",
		},
		{
			name: "catalog refuse", flags: "-mode test|live (-host HOST | -source SOURCE | -host HOST -undo)",
			declare: refuseHosts,
			help:    "Keeps a host, or all hosts that wait because of a source, out of the catalogue",
		},
	}
}

// hostFlags adds the flags that choose hosts.
func hostFlags(flags *flag.FlagSet) *operator.HostChoice {
	choice := &operator.HostChoice{}
	flags.StringVar(&choice.Host, "host", "", "`host` as catalog diff shows it")
	flags.StringVar(&choice.Source, "source", "", "`id` of the source that names the hosts")
	return choice
}

func allowHosts(flags *flag.FlagSet) action {
	mode, choice := modeFlag(flags), hostFlags(flags)
	every := flags.Bool("every-brand", false,
		"let every institution have servers at the host, now and later: for a vendor's host")
	undo := flags.Bool("undo", false, "take back all that was said of the host; what was published with it stays")
	return func(ctx context.Context, s session) (any, error) {
		shown := map[string]any{"mode": *mode, "next": "catalog publish"}
		switch {
		case *choice == (operator.HostChoice{}):
			return nil, misused("-host or -source says what is let in; catalog diff shows what waits")
		case (*every || *undo) && (choice.Host == "" || choice.Source != "") || *every && *undo:
			return nil, misused("-every-brand and -undo go with -host alone")
		case *every:
			shown["every_brand"] = choice.Host
			return shown, s.CatalogOverrides.AllowEveryBrand(ctx, *mode, choice.Host)
		case *undo:
			shown["forgotten"] = choice.Host
			return shown, s.CatalogOverrides.ForgetHost(ctx, *mode, choice.Host)
		}
		hosts, err := s.CatalogOverrides.AllowHosts(ctx, *mode, *choice)
		shown["allowed"] = hosts
		return shown, err
	}
}

func refuseHosts(flags *flag.FlagSet) action {
	mode, choice := modeFlag(flags), hostFlags(flags)
	undo := flags.Bool("undo", false, "take back all that was said of the host")
	return func(ctx context.Context, s session) (any, error) {
		shown := map[string]any{"mode": *mode, "next": "catalog publish"}
		switch {
		case *choice == (operator.HostChoice{}):
			return nil, misused("-host or -source says what is refused; catalog diff shows what waits")
		case *undo && (choice.Host == "" || choice.Source != ""):
			return nil, misused("-undo goes with -host alone")
		case *undo:
			shown["forgotten"] = choice.Host
			return shown, s.CatalogOverrides.ForgetHost(ctx, *mode, choice.Host)
		}
		hosts, err := s.CatalogOverrides.RefuseHosts(ctx, *mode, *choice)
		shown["refused"] = hosts
		return shown, err
	}
}

// hostsShown adds the waiting hosts to shown, those with the most servers first.
func hostsShown(shown map[string]any, waiting []compose.Wait, choice *operator.HostChoice, limit int) map[string]any {
	waiting = slices.DeleteFunc(slices.Clone(waiting), func(w compose.Wait) bool { return !choice.Has(w) })
	if len(waiting) == 0 {
		return shown
	}
	hosts := publish.ByHost(waiting)
	shown["hosts_wait"] = map[string]any{
		"hosts": len(hosts), "servers": len(waiting), "first": hosts[:min(limit, len(hosts))],
		"do": "catalog allow -host HOST, or -source SOURCE for all that a list names; catalog refuse for what is wrong",
	}
	return shown
}
