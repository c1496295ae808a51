package sam

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"recordbridge/infra/local/engine"
	"recordbridge/infra/local/template"
)

// Place describes the environment in which containers run functions.
type Place struct {
	Binaries     string // absolute path of the directory that contains <function>/bootstrap
	Architecture string
	URL          string // URL of the embedded AWS, with an IP address because the SDK adds the bucket to host names
	ObjectsURL   string // S3 endpoint URL
	SecretKey    string // secret key for every access key in the embedded AWS
	Region       string
}

// Template returns a JSON template with the properties that `sam local` needs to run functions and their API. Every
// variable has a literal value, because the CLI does not resolve references to the stack's resources. The access key is
// the function's logical ID, by which the embedded AWS identifies the caller. The template contains the secret key.
func (p Place) Template(functions []template.Function) ([]byte, error) {
	resources := make(map[string]resource, len(functions)+1)
	paths := map[string]map[string]operation{}
	for _, f := range functions {
		for _, r := range f.Routes {
			if paths[r.Path] == nil {
				paths[r.Path] = map[string]operation{}
			}
			paths[r.Path][methodName(r.Method)] = operationOf(f)
		}
		resources[f.LogicalID] = resource{Type: "AWS::Serverless::Function", Properties: properties{
			FunctionName: f.Name, Runtime: "provided.al2023", Handler: "bootstrap", CodeURI: p.folder(f),
			Architectures: []string{engine.SAMArchitecture(p.Architecture)},
			Timeout:       int(f.Timeout.Seconds()), MemorySize: f.MemoryMB,
			Environment: environment{p.variables(f)},
		}}
	}
	resources["Api"] = resource{Type: "AWS::Serverless::Api", Properties: api{
		StageName: "local", BinaryMediaTypes: []string{"*/*"},
		DefinitionBody: definition{OpenAPI: "3.0.1", Paths: paths},
	}}
	text, err := json.MarshalIndent(map[string]any{
		"AWSTemplateFormatVersion": "2010-09-09", "Transform": "AWS::Serverless-2016-10-31", "Resources": resources,
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("template for sam local: %w", err)
	}
	return text, nil
}

type resource struct {
	Type       string
	Properties any // properties or api
}

// api holds the properties of the API that `sam local start-api` serves.
type api struct {
	StageName        string
	BinaryMediaTypes []string
	DefinitionBody   definition
}

type definition struct {
	OpenAPI string                          `json:"openapi"`
	Paths   map[string]map[string]operation `json:"paths"`
}

type operation struct {
	Integration integration `json:"x-amazon-apigateway-integration"`
}

type integration struct {
	Type       string            `json:"type"`
	HTTPMethod string            `json:"httpMethod"`
	URI        map[string]string `json:"uri"`
}

func operationOf(f template.Function) operation {
	return operation{integration{
		Type: "aws_proxy", HTTPMethod: "POST",
		URI: map[string]string{
			"Fn::Sub": "arn:aws:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/${" + f.LogicalID +
				".Arn}/invocations",
		},
	}}
}

// methodName returns OpenAPI's name for a route's method.
func methodName(method string) string {
	if method == "ANY" {
		return "x-amazon-apigateway-any-method"
	}
	return strings.ToLower(method)
}

type properties struct {
	FunctionName  string
	Runtime       string
	Handler       string
	CodeURI       string `json:"CodeUri"`
	Architectures []string
	Timeout       int // seconds
	MemorySize    int // MB
	Environment   environment
}

type environment struct{ Variables map[string]string }

func (p Place) folder(f template.Function) string { return filepath.Join(p.Binaries, f.Folder) }

// variables returns a function's environment: its declared variables, and the AWS variables that direct it to the
// embedded AWS. The AWS variables also replace those that the CLI would take from this machine's AWS configuration or
// set incorrectly. The CLI sets Lambda's other variables.
func (p Place) variables(f template.Function) map[string]string {
	all := map[string]string{
		"AWS_ENDPOINT_URL":         p.URL,
		"AWS_ENDPOINT_URL_S3":      p.ObjectsURL,
		"AWS_ACCESS_KEY_ID":        f.LogicalID,
		"AWS_SECRET_ACCESS_KEY":    p.SecretKey,
		"AWS_SESSION_TOKEN":        "",
		"AWS_REGION":               p.Region,
		"AWS_DEFAULT_REGION":       p.Region,
		"AWS_LAMBDA_FUNCTION_NAME": f.Name,
	}
	maps.Copy(all, f.Environment)
	return all
}
