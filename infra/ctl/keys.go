package main

import (
	"context"
	"flag"
)

func keyCommands() []command {
	return []command{{
		name: "keys jwks", flags: "[-rsa]", declare: showKeys,
		help: "Prints the running service's public keys, for a registration that takes them inline",
	}}
}

// showKeys prints the public keys of our client as health systems take them.
func showKeys(flags *flag.FlagSet) action {
	rsa := flags.Bool("rsa", false, "only RSA keys, for platforms that take no others")
	return func(ctx context.Context, s session) (any, error) { return s.ClientKeys.PublicKeys(ctx, *rsa) }
}
