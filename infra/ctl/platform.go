package main

import (
	"context"
	"flag"

	"recordbridge/shared/connect/platform"
	"recordbridge/shared/words/fault"
)

func platformCommands() []command {
	return []command{
		{name: "platform list", help: "Lists the known EHR platforms", declare: listPlatforms},
		{
			name: "platform show", flags: "-platform TYPE", help: "Shows the profile of an EHR platform",
			needs: []string{"platform"}, declare: showPlatform,
		},
	}
}

func listPlatforms(*flag.FlagSet) action {
	return func(context.Context, session) (any, error) {
		all, err := platform.All()
		rows := make([]map[string]any, 0, len(all))
		for _, p := range all {
			rows = append(rows, map[string]any{"platform_type": p.ID, "name": p.Name, "client_authentication": p.Client.Methods})
		}
		return rows, err
	}
}

// showPlatform prints the details of a platform for registering the service's client there.
func showPlatform(flags *flag.FlagSet) action {
	id := flags.String("platform", "", "EHR platform `type`")
	return func(context.Context, session) (any, error) {
		found, err := platform.Find(*id)
		if err != nil {
			return nil, fault.BadRequest(err.Error()).About("platform")
		}
		return found, nil
	}
}
