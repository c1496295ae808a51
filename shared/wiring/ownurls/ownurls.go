// Package ownurls tells a function which URLs lead to the service (docs/adr/0040-no-address-of-ours.md). They are
// in one parameter, since a function's environment cannot hold the API's own id without a cycle. It links the
// Parameter Store (ADR 7).
package ownurls

import (
	"context"
	"strings"

	"recordbridge/shared/platform/config/awsparam"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/words/weburl"
)

// URLEnv holds the environment variables that template.yaml sets for such a function.
type URLEnv struct {
	BaseURLParameter string `env:"BASE_URL_PARAMETER,required"`
	OwnURLsParameter string `env:"OWN_URLS_PARAMETER,required"`
}

// Read returns the API's base URL and the service's own hosts, by one call. While a stack is upgraded from a release
// without the second parameter, CloudFormation replaces functions before it makes that one: Read then takes the base
// URL from the first, and knows no other host.
func Read(ctx context.Context, p lambdarun.Process, env URLEnv) (baseURL string, own weburl.Own, err error) {
	urls, err := awsparam.Read(ctx, p.AWS, p.Now, env.OwnURLsParameter)
	if awsparam.IsMissing(err) {
		urls, err = awsparam.Read(ctx, p.AWS, p.Now, env.BaseURLParameter)
	}
	if err != nil {
		return "", weburl.Own{}, err
	}
	baseURL, _, _ = strings.Cut(urls, " ")
	own, err = weburl.NewOwn(urls)
	return baseURL, own, err
}
