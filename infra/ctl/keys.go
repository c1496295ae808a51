package main

import (
	"context"
	"flag"

	"recordbridge/shared/operator"
)

// showKeys prints the public keys of our client as health systems take them.
func showKeys(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("keys jwks", flag.ContinueOnError)
	rsa := flags.Bool("rsa", false, "only RSA keys, for platforms that take no others")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	return o.Clients.PublicKeys(ctx, *rsa)
}
