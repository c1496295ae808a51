package main

import (
	"context"
	"flag"

	"recordbridge/shared/connect/platform"
	"recordbridge/shared/words/fault"
)

func platformCommands() []command {
	return []command{
		{
			name: "platform show", flags: "[-platform TYPE]", declare: showPlatform,
			help: "Lists the known EHR platforms, or shows a platform's profile",
		},
	}
}

func platformsShown() (any, error) {
	all, err := platform.All()
	rows := make([]map[string]any, 0, len(all))
	for _, p := range all {
		rows = append(rows, map[string]any{"platform_type": p.ID, "name": p.Name, "client_authentication": p.Client.Methods})
	}
	return rows, err
}

// showPlatform prints all platforms, or the details of one platform for registering the service's client there.
func showPlatform(flags *flag.FlagSet) action {
	id := flags.String("platform", "", "EHR platform `type`")
	return func(context.Context, session) (any, error) {
		if *id == "" {
			return platformsShown()
		}
		found, err := platform.Find(*id)
		if err != nil {
			return nil, fault.BadRequest(err.Error()).About("platform")
		}
		return found, nil
	}
}
