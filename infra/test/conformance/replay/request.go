package replay

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // G501: Content-MD5 is defined as MD5
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"recordbridge/infra/test/conformance/corpus"
)

// protocol holds a service's X-Amz-Target prefix and Content-Type.
type protocol struct{ target, contentType string }

var protocols = map[string]protocol{
	"dynamodb":       {"DynamoDB_20120810", "application/x-amz-json-1.0"},
	"sqs":            {"AmazonSQS", "application/x-amz-json-1.0"},
	"kms":            {"TrentService", "application/x-amz-json-1.1"},
	"secretsmanager": {"secretsmanager", "application/x-amz-json-1.1"},
	"ssm":            {"AmazonSSM", "application/x-amz-json-1.1"},
}

func (p Target) request(ctx context.Context, service string, step corpus.Step,
	variables map[string]string,
) (*http.Request, []byte, error) {
	in, err := corpus.Expand(step.In, variables)
	if err != nil {
		return nil, nil, err
	}
	switch service {
	case "s3":
		return p.rest(ctx, step, variables)
	case "ses":
		return p.form(ctx, step.Call, in)
	}
	speaks, ok := protocols[service]
	if !ok {
		return nil, nil, fmt.Errorf("nobody knows how to speak to the service %q", service)
	}
	if in == nil {
		in = map[string]any{}
	}
	body, err := json.Marshal(in)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the request: %w", err)
	}
	if step.Body != nil {
		content, expandErr := corpus.Expand(step.Body, variables)
		if expandErr != nil {
			return nil, nil, expandErr
		}
		body = fmt.Append(nil, content)
	}
	r, err := p.newRequest(ctx, http.MethodPost, "/", body)
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", speaks.contentType)
	r.Header.Set("X-Amz-Target", speaks.target+"."+step.Call)
	return r, body, nil
}

func (p Target) newRequest(ctx context.Context, method, address string, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, p.URL+address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	return r, nil
}

// rest builds an S3 request from a call such as "PUT /bucket/key?query".
func (p Target) rest(
	ctx context.Context, step corpus.Step, variables map[string]string,
) (*http.Request, []byte, error) {
	call, err := corpus.ExpandText(step.Call, variables)
	if err != nil {
		return nil, nil, err
	}
	method, address, ok := strings.Cut(call, " ")
	if !ok {
		return nil, nil, fmt.Errorf("%q is no method and address", call)
	}
	content, err := corpus.Expand(step.Body, variables)
	if err != nil {
		return nil, nil, err
	}
	var body []byte
	if content != nil {
		body = fmt.Append(nil, content)
	}
	r, err := p.newRequest(ctx, method, address, body)
	if err != nil {
		return nil, nil, err
	}
	known := maps.Clone(variables)
	sum := md5.Sum(body) //nolint:gosec // G401: see the import
	known["md5"] = base64.StdEncoding.EncodeToString(sum[:])
	for name, text := range step.Headers {
		if text, err = corpus.ExpandText(text, known); err != nil {
			return nil, nil, err
		}
		r.Header.Set(name, text)
	}
	return r, body, nil
}

// form builds a Query protocol request, in which every parameter is a string.
func (p Target) form(ctx context.Context, call string, in any) (*http.Request, []byte, error) {
	form := url.Values{"Action": {call}, "Version": {"2010-12-01"}}
	if members, ok := in.(map[string]any); ok {
		for name, value := range members {
			form.Set(name, fmt.Sprint(value))
		}
	}
	body := []byte(form.Encode())
	r, err := p.newRequest(ctx, http.MethodPost, "/", body)
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r, body, nil
}
