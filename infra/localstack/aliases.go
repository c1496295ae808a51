package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// alias is the one of template.yaml, by which everything calls a function.
const alias = "live"

// lambdaAPI is where Lambda's operations are (https://docs.aws.amazon.com/lambda/latest/api/API_ListFunctions.html).
const lambdaAPI = "/2015-03-31/functions/"

// moveAliases points every function's alias at the version that was published last, as CloudFormation does on AWS when it updates a stack:
// LocalStack leaves it where it was, at a version that the update has removed.
func moveAliases(ctx context.Context, o options) error {
	names, err := functions(ctx, o)
	if err != nil {
		return fmt.Errorf("move the aliases: %w", err)
	}
	if len(names) == 0 {
		return errors.New("move the aliases: there is no function")
	}
	for _, name := range names {
		if err = moveAlias(ctx, o, name); err != nil {
			return fmt.Errorf("move the alias of %s: %w", name, err)
		}
	}
	return nil
}

// functions are the names of all.
func functions(ctx context.Context, o options) ([]string, error) {
	var names []string
	for marker := ""; ; {
		var page struct {
			Functions []struct {
				FunctionName string `json:"FunctionName"`
			} `json:"Functions"`
			NextMarker string `json:"NextMarker"`
		}
		if err := callLambda(ctx, o, http.MethodGet, "?Marker="+url.QueryEscape(marker), nil, &page); err != nil {
			return nil, err
		}
		for _, f := range page.Functions {
			names = append(names, f.FunctionName)
		}
		if marker = page.NextMarker; marker == "" {
			return names, nil
		}
	}
}

func moveAlias(ctx context.Context, o options, function string) error {
	var published struct {
		Versions []struct {
			Version string `json:"Version"`
		} `json:"Versions"`
	}
	if err := callLambda(ctx, o, http.MethodGet, function+"/versions", nil, &published); err != nil {
		return err
	}
	newest := 0
	for _, v := range published.Versions {
		if number, err := strconv.Atoi(v.Version); err == nil { // $LATEST is none
			newest = max(newest, number)
		}
	}
	if newest == 0 {
		return errors.New("it has no version")
	}
	return callLambda(ctx, o, http.MethodPut, function+"/aliases/"+alias, map[string]string{"FunctionVersion": strconv.Itoa(newest)}, nil)
}

// callLambda performs an operation of LocalStack's Lambda. LocalStack checks no signature, and takes the region from what should be one.
func callLambda(ctx context.Context, o options, method, path string, in, out any) error {
	var body io.Reader = http.NoBody // of a GET LocalStack understands no other
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("write the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+o.aws+lambdaAPI+path, body)
	if err != nil {
		return fmt.Errorf("ask Lambda: %w", err)
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+accessKey+"/20260101/"+region+"/lambda/aws4_request, SignedHeaders=host, Signature=none")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask Lambda: %w", err)
	}
	answer, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("read Lambda's answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("LocalStack answered %s: %.200s", response.Status, answer)
	}
	if out == nil {
		return nil
	}
	if err = json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("read Lambda's answer: %w", err)
	}
	return nil
}
