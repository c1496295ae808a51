package sam

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"

	"recordbridge/infra/local/engine"
	"recordbridge/infra/local/template"
)

// Place is where functions run and what they reach from there.
type Place struct {
	Binaries     string // folder of <function>/bootstrap, absolute
	Architecture string // as Go names it
	URL          string // of the embedded AWS, with an IP address: with a name, the SDK puts buckets in front of it
	ObjectsURL   string // of S3 alone
	SecretKey    string // of the embedded AWS, for every access key
	Region       string
}

// Template is what `sam local` needs of the functions of a template, in JSON: every variable has its value, since the
// CLI knows no resource of the stack, and the logical id is the access key, by which the embedded AWS knows who calls.
// It holds the secret key.
func (p Place) Template(functions []template.Function) ([]byte, error) {
	resources := make(map[string]resource, len(functions))
	for _, f := range functions {
		resources[f.LogicalID] = resource{Type: "AWS::Serverless::Function", Properties: properties{
			FunctionName: f.Name, Runtime: "provided.al2023", Handler: "bootstrap", CodeURI: p.folder(f),
			Architectures: []string{engine.SAMArchitecture(p.Architecture)},
			Timeout:       int(f.Timeout.Seconds()), MemorySize: f.MemoryMB,
			Environment: environment{p.variables(f)},
		}}
	}
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
	Properties properties
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

// folder is where the binary of a function is.
func (p Place) folder(f template.Function) string { return filepath.Join(p.Binaries, f.Folder) }

// variables are the template's, and what leads a function to the embedded AWS. Those of Lambda itself come from the
// CLI, but for the ones that it takes from this machine's own AWS configuration or gets wrong.
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
