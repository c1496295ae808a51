// Package ownurls reads the service's own URLs (docs/adr/0040-no-address-of-ours.md). The URLs are stored in a
// parameter, because adding the API's ID to a function's environment would create a dependency cycle. The package links
// code that reads the Parameter Store (ADR 7).
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

// Read returns the API's base URL and the service's own hosts, in a single call. During an upgrade from a release
// without the second parameter, CloudFormation replaces the functions before it creates that parameter. Without the
// second parameter, Read takes the base URL from the first parameter and returns its host as the only own host.
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
