package published

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"recordbridge/shared/platform/config/awscall"
)

// attempts is the maximum number of attempts for a call. Lambda's control plane allows 15 calls per second and account.
const attempts = 8

// api calls the operations of Lambda that the package needs (AWS Lambda API Reference). It replaces the SDK's Lambda
// client, which has several megabytes of source code.
type api struct {
	cfg aws.Config
	now func() time.Time
}

func newAPI(cfg aws.Config, now func() time.Time) api {
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = attempts })
	}
	return api{cfg, now}
}

type versionConfiguration struct {
	Version      string
	LastModified string
	Environment  struct{ Variables map[string]string }
}

type aliasConfiguration struct {
	Name            string
	FunctionVersion string
	RoutingConfig   *routing
}

type routing struct{ AdditionalVersionWeights map[string]float64 }

func (a api) versions(ctx context.Context, function string) ([]versionConfiguration, error) {
	return list(ctx, a, function+"/versions", func(page struct {
		Versions   []versionConfiguration
		NextMarker string
	},
	) ([]versionConfiguration, string) {
		return page.Versions, page.NextMarker
	})
}

func (a api) aliases(ctx context.Context, function string) ([]aliasConfiguration, error) {
	return list(ctx, a, function+"/aliases", func(page struct {
		Aliases    []aliasConfiguration
		NextMarker string
	},
	) ([]aliasConfiguration, string) {
		return page.Aliases, page.NextMarker
	})
}

// list reads every page of a list. read returns a page's items and the marker of the next page.
func list[Page, Item any](ctx context.Context, a api, path string, read func(Page) ([]Item, string)) ([]Item, error) {
	var all []Item
	for marker := ""; ; {
		at := path
		if marker != "" {
			at += "?Marker=" + url.QueryEscape(marker)
		}
		var page Page
		if err := a.call(ctx, http.MethodGet, at, nil, &page); err != nil {
			return nil, err
		}
		var items []Item
		if items, marker = read(page); marker == "" {
			return append(all, items...), nil
		}
		all = append(all, items...)
	}
}

// point makes an alias refer to one version only.
func (a api) point(ctx context.Context, function, alias, version string) error {
	var moved aliasConfiguration
	return a.call(ctx, http.MethodPut, function+"/aliases/"+alias, aliasConfiguration{
		Name: alias, FunctionVersion: version, RoutingConfig: &routing{map[string]float64{}},
	}, &moved)
}

func (a api) deleteVersion(ctx context.Context, function, version string) error {
	return a.call(ctx, http.MethodDelete, function+"?Qualifier="+version, nil, nil)
}

func (a api) call(ctx context.Context, method, path string, in, out any) error {
	var body string
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		body = string(text)
	}
	err := awscall.Do(ctx, a.cfg, a.now, awscall.Call{
		Service: "lambda", SDKID: "LAMBDA", Method: method, Path: "2015-03-31/functions/" + path, Body: body,
		Header: map[string]string{"Content-Type": "application/json"},
		Read: func(status int, answer []byte) error {
			switch {
			case status == http.StatusNoContent && out == nil:
				return nil
			case status == http.StatusOK && out != nil && json.Unmarshal(answer, out) == nil:
				return nil
			}
			return refusal(status, answer)
		},
	})
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// refusal parses an error response. Lambda sends the error's code in a header, which can be derived from the status for
// the errors that matter here.
func refusal(status int, answer []byte) error {
	var said struct{ Message string }
	_ = json.Unmarshal(answer, &said) // other servers' responses have no message
	code := map[int]string{
		http.StatusTooManyRequests: "TooManyRequestsException", http.StatusConflict: "ResourceConflictException",
		http.StatusNotFound: "ResourceNotFoundException", http.StatusForbidden: "AccessDeniedException",
	}[status]
	return &awscall.RefusedError{Status: status, Code: code, Message: said.Message}
}
