// Package ownurls provides the URLs that lead to the service itself (docs/adr/0040-no-address-of-ours.md). They are
// stored in one parameter, because a function's environment cannot contain the API's id without a dependency cycle. It
// links the Parameter Store (ADR 7).
package ownurls

import (
	"context"
	"strings"

	"recordbridge/shared/platform/config/awsparam"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/words/weburl"
)

// URLEnv holds the function's environment variables, as set in template.yaml.
type URLEnv struct {
	BaseURLParameter string `env:"BASE_URL_PARAMETER,required"`
	OwnURLsParameter string `env:"OWN_URLS_PARAMETER,required"`
}

// Read returns the API's base URL and the service's own hosts, with one call. During an upgrade from a release without
// the second parameter, CloudFormation replaces functions before it creates that parameter. Read then takes the base
// URL from the first one, which is the only known host.
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
