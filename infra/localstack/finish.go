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

// alias is the function alias in template.yaml that all callers invoke.
const alias = "live"

// API paths: https://docs.aws.amazon.com/lambda/latest/api/API_ListFunctions.html and
// https://docs.aws.amazon.com/apigateway/latest/api/API_GetRestApis.html.
const (
	lambdaAPI  = "/2015-03-31/functions/"
	gatewayAPI = "/restapis"
)

// finishUpdate completes a stack update with the steps that CloudFormation performs on AWS but LocalStack omits.
func finishUpdate(ctx context.Context, o options) error {
	if err := moveAliases(ctx, o); err != nil {
		return err
	}
	if err := restoreStage(ctx, o); err != nil {
		return fmt.Errorf("restore the API's stage: %w", err)
	}
	return nil
}

// restoreStage recreates a missing API stage for the API's new deployment. LocalStack removes the stage together with
// the old deployment. If an update does not change the API, LocalStack keeps both the deployment and the stage.
func restoreStage(ctx context.Context, o options) error {
	api, err := only(ctx, o, gatewayAPI)
	if err != nil {
		return err
	}
	of := gatewayAPI + "/" + api
	stages, err := listed(ctx, o, of+"/stages")
	if err != nil || len(stages) > 0 {
		return err
	}
	deployment, err := only(ctx, o, of+"/deployments")
	if err != nil {
		return err
	}
	return ask(ctx, o, "apigateway", http.MethodPost, of+"/stages",
		map[string]string{"stageName": stage, "deploymentId": deployment}, nil)
}

func only(ctx context.Context, o options, path string) (string, error) {
	found, err := listed(ctx, o, path)
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("there are %d at %s, want one", len(found), path)
	}
	return found[0], nil
}

// listed returns the IDs of the API Gateway elements listed at path. Stages have no IDs, so listed returns an empty
// string for each.
func listed(ctx context.Context, o options, path string) ([]string, error) {
	var page struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"item"`
	}
	if err := ask(ctx, o, "apigateway", http.MethodGet, path, nil, &page); err != nil {
		return nil, err
	}
	found := make([]string, len(page.Items))
	for i, item := range page.Items {
		found[i] = item.ID
	}
	return found, nil
}

// moveAliases points every function's alias to the function's latest published version. LocalStack leaves the alias
// pointing to a version that the update removed.
func moveAliases(ctx context.Context, o options) error {
	names, err := functions(ctx, o)
	if err != nil {
		return fmt.Errorf("move the aliases: %w", err)
	}
	if len(names) == 0 {
		return errors.New("move the aliases: there are no functions")
	}
	for _, name := range names {
		if err = moveAlias(ctx, o, name); err != nil {
			return fmt.Errorf("move the alias of %s: %w", name, err)
		}
	}
	return nil
}

func functions(ctx context.Context, o options) ([]string, error) {
	var names []string
	for marker := ""; ; {
		var page struct {
			Functions []struct {
				FunctionName string `json:"FunctionName"`
			} `json:"Functions"`
			NextMarker string `json:"NextMarker"`
		}
		if err := ask(ctx, o, "lambda", http.MethodGet, lambdaAPI+"?Marker="+url.QueryEscape(marker), nil,
			&page); err != nil {
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
	if err := ask(ctx, o, "lambda", http.MethodGet, lambdaAPI+function+"/versions", nil, &published); err != nil {
		return err
	}
	newest := 0
	for _, v := range published.Versions {
		if number, err := strconv.Atoi(v.Version); err == nil { // skips $LATEST
			newest = max(newest, number)
		}
	}
	if newest == 0 {
		return errors.New("it has no version")
	}
	return ask(ctx, o, "lambda", http.MethodPut, lambdaAPI+function+"/aliases/"+alias,
		map[string]string{"FunctionVersion": strconv.Itoa(newest)}, nil)
}

// ask calls an operation of a LocalStack service. LocalStack reads the service and region from the signature but does
// not verify the signature.
func ask(ctx context.Context, o options, service, method, path string, in, out any) error {
	var body io.Reader = http.NoBody // LocalStack rejects a GET request that has a body
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("write the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+o.aws+path, body)
	if err != nil {
		return fmt.Errorf("ask LocalStack: %w", err)
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+accessKey+"/20260101/"+region+"/"+service+
		"/aws4_request, SignedHeaders=host, Signature=none")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask LocalStack: %w", err)
	}
	answer, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("read LocalStack's response: %w", err)
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated {
		return fmt.Errorf("LocalStack returned %s: %.200s", response.Status, answer)
	}
	if out == nil {
		return nil
	}
	if err = json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("read LocalStack's response: %w", err)
	}
	return nil
}
