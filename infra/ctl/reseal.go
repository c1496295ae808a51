package main

import (
	"context"
	"flag"
)

func resealCommands() []command {
	return []command{{
		name: "reseal", flags: "[-apply]", declare: reseal,
		help: "Seals webhooks' secrets, keys and headers and client secrets anew, so that nothing stands under an old " +
			"version of SecretsKey",
	}}
}

func reseal(flags *flag.FlagSet) action {
	isMeant := flags.Bool("apply", false, "do it; without it nothing is changed")
	return func(ctx context.Context, s session) (any, error) {
		if !*isMeant {
			return nil, misused("reseal changes every webhook and client that has a secret; say -apply")
		}
		done, err := s.Reseals.All(ctx)
		if err != nil {
			return nil, &unfinishedError{result: done, cause: err}
		}
		return done, nil
	}
}
