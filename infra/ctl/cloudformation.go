package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

const (
	describeTimeout = 20 * time.Second
	maxDescription  = 1 << 20 // bytes; a stack has at most 200 outputs
)

// named is a stack on AWS, by its name or ARN.
func named(ctx context.Context, name string) (found, error) {
	cfg, err := signedIn(ctx)
	if err != nil {
		return found{}, err
	}
	outputs, err := describe(ctx, cfg, name)
	if err != nil {
		return found{}, fmt.Errorf("-stack %s in %s: %w", name, cfg.Region, err)
	}
	return found{name: "stack " + name + " in " + cfg.Region, config: cfg, outputs: outputs}, nil
}

// describe reads the outputs of a stack (CloudFormation's DescribeStacks). It signs its one request itself: the SDK's client of
// CloudFormation is 3.7 MB of sources, and wants another core than the functions are built with.
func describe(ctx context.Context, cfg aws.Config, name string) (map[string]string, error) {
	body := url.Values{"Action": {"DescribeStacks"}, "Version": {"2010-05-15"}, "StackName": {name}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, formationAddress(cfg), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	keys, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(body))
	if err = v4.NewSigner().SignHTTP(ctx, keys, request, hex.EncodeToString(sum[:]), "cloudformation", cfg.Region, time.Now()); err != nil {
		return nil, err
	}
	client := http.Client{Timeout: describeTimeout}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxDescription))
	if err != nil {
		return nil, err
	}
	return readDescription(response.StatusCode, answer)
}

// formationAddress is where CloudFormation is, or what stands in for it.
func formationAddress(cfg aws.Config) string {
	if cfg.BaseEndpoint != nil {
		return strings.TrimRight(*cfg.BaseEndpoint, "/") + "/"
	}
	domain := "amazonaws.com"
	if strings.HasPrefix(cfg.Region, "cn-") {
		domain = "amazonaws.com.cn"
	}
	return "https://cloudformation." + cfg.Region + "." + domain + "/"
}

func readDescription(status int, answer []byte) (map[string]string, error) {
	var described struct {
		Error struct {
			Code    string
			Message string
		}
		Outputs []struct {
			OutputKey   string
			OutputValue string
		} `xml:"DescribeStacksResult>Stacks>member>Outputs>member"`
	}
	err := xml.Unmarshal(answer, &described)
	switch {
	case err == nil && status == http.StatusOK:
	case err == nil && described.Error.Code != "":
		return nil, fmt.Errorf("%s: %s", described.Error.Code, described.Error.Message)
	default:
		return nil, fmt.Errorf("status %d, and not the answer of CloudFormation", status)
	}
	outputs := make(map[string]string, len(described.Outputs))
	for _, output := range described.Outputs {
		outputs[output.OutputKey] = output.OutputValue
	}
	return outputs, nil
}
