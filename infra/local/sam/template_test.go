package sam_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/sam"
	"recordbridge/infra/local/template"
)

// written is the part of a generated template that the SAM CLI reads.
type written struct {
	Resources map[string]struct {
		Type       string
		Properties struct {
			FunctionName  string
			Runtime       string
			Handler       string
			CodeURI       string `json:"CodeUri"`
			Architectures []string
			Timeout       int
			MemorySize    int
			Environment   struct{ Variables map[string]string }

			DefinitionBody struct {
				Paths map[string]map[string]struct {
					Integration struct {
						URI map[string]string
					} `json:"x-amazon-apigateway-integration"`
				}
			}
		}
	}
}

func TestTemplateResolvesEveryFunction(t *testing.T) {
	t.Parallel()
	loaded, err := template.Load("../../../template.yaml", template.Options{
		Parameters: map[string]string{"EnableSandbox": "true", "PublicBaseUrl": "http://localhost:4566/v1"},
		BaseURL:    "http://127.0.0.1:4566", StackName: "local",
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := sam.Place{
		Binaries: "/build", Architecture: "amd64", URL: "http://172.17.0.1:4566", ObjectsURL: "http://172.17.0.1:4567",
		SecretKey: "new", Region: "us-east-1",
	}.Template(loaded.Functions)
	if err != nil {
		t.Fatal(err)
	}
	var got written
	if err = json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(loaded.Functions) == 0 || len(got.Resources) != len(loaded.Functions)+1 {
		t.Fatalf("got %d resources, want the %d functions and their API", len(got.Resources), len(loaded.Functions))
	}
	paths := got.Resources["Api"].Properties.DefinitionBody.Paths
	for route, function := range map[[2]string]string{
		{"/health", "x-amazon-apigateway-any-method"}:           "WebFunction",
		{"/bridge/attempts/{attemptId}", "delete"}:              "CancelAttemptFunction",
		{"/sandbox/{proxy+}", "x-amazon-apigateway-any-method"}: "SandboxEhrFunction",
	} {
		uri := paths[route[0]][route[1]].Integration.URI["Fn::Sub"]
		if !strings.HasSuffix(uri, "/functions/${"+function+".Arn}/invocations") {
			t.Errorf("%v invokes %q, want %s", route, uri, function)
		}
	}
	for _, f := range loaded.Functions {
		is := got.Resources[f.LogicalID].Properties
		what := []any{
			is.FunctionName, is.Runtime, is.Handler, is.CodeURI, strings.Join(is.Architectures, " "), is.Timeout,
			is.MemorySize,
		}
		want := []any{
			f.Name, "provided.al2023", "bootstrap", "/build/" + f.Folder, "x86_64",
			int(f.Timeout.Seconds()), f.MemoryMB,
		}
		if diff := cmp.Diff(want, what); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.LogicalID, diff)
		}
		variables := map[string]string{
			"AWS_ENDPOINT_URL": "http://172.17.0.1:4566", "AWS_ENDPOINT_URL_S3": "http://172.17.0.1:4567",
			"AWS_ACCESS_KEY_ID": f.LogicalID, "AWS_SECRET_ACCESS_KEY": "new", "AWS_SESSION_TOKEN": "",
			"AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1", "AWS_LAMBDA_FUNCTION_NAME": f.Name,
		}
		maps.Copy(variables, f.Environment)
		if diff := cmp.Diff(variables, is.Environment.Variables); diff != "" {
			t.Errorf("variables of %s (-want +got):\n%s", f.LogicalID, diff)
		}
	}
}
