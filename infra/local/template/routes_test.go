package template_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/template"
)

// definition is the start of an API to which tests add paths. rest completes the template with the required function
// and roles.
const (
	definition = head + "  Api:\n    Type: AWS::Serverless::Api\n    Properties:\n      StageName: v1\n" +
		"      DefinitionBody:\n" +
		"        openapi: 3.0.1\n        paths:\n" // 9 lines
	rest = "  GatewayRole:\n    Type: AWS::IAM::Role\n    Properties:\n      AssumeRolePolicyDocument:\n" +
		"        Version: '2012-10-17'\n" +
		"        Statement: [{Effect: Allow, Principal: {Service: apigateway.amazonaws.com}, Action: sts:AssumeRole}]\n" +
		"      Policies:\n        - PolicyName: own\n          PolicyDocument:\n            Version: '2012-10-17'\n" +
		"            Statement:\n" +
		"              - {Effect: Allow, Action: [lambda:InvokeFunction], Resource: [!Sub '${WorkFunction.Arn}:live']}\n" +
		"  G: {Type: AWS::Logs::LogGroup, Properties: {LogGroupName: g}}\n" +
		"  WorkFunction:\n" + run + "      Role: !GetAtt R.Arn\n      LoggingConfig: {LogGroup: !Ref G}\n" + trust
)

// invoke is an integration that invokes the function declared in rest. The format is SAM's for an Api event.
const invoke = "{x-amazon-apigateway-integration: {type: aws_proxy, httpMethod: POST, " +
	"credentials: !GetAtt GatewayRole.Arn, " +
	"uri: !Sub 'arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/" +
	"${WorkFunction.Arn}:live/invocations'}}"

func pathOf(path string, methods ...string) string {
	var text strings.Builder
	text.WriteString("          '" + path + "':\n")
	for _, m := range methods {
		text.WriteString("            " + m + ": " + invoke + "\n")
	}
	return text.String()
}

func TestLoadReadsRoutesFromAPIDefinition(t *testing.T) {
	t.Parallel()
	paths := "          /a: &a\n            x-amazon-apigateway-any-method: " + invoke +
		"\n            delete: " + invoke + "\n" +
		"          /a/{b+}: *a\n          /c: !If [Never, {get: " + invoke + "}, !Ref AWS::NoValue]\n"
	tpl, err := loadText(t, "Conditions:\n  Never: !Equals [a, b]\n"+definition+paths+rest, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []template.Route{
		{Method: "ANY", Path: "/a"},
		{Method: "DELETE", Path: "/a"},
		{Method: "ANY", Path: "/a/{b+}"},
		{Method: "DELETE", Path: "/a/{b+}"},
	}
	if diff := cmp.Diff(want, tpl.Functions[0].Routes); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

func TestLoadRejectsDefinitionThatGatewayCannotServe(t *testing.T) {
	t.Parallel()
	with := func(part, replacement string) string {
		return definition + strings.Replace(pathOf("/a", "get"), part, replacement, 1) + rest
	}
	expectRefusals(t, map[string]struct{ text, want string }{
		"an authoriser": {
			with("get: {", "get: {security: [], "), "11: Api: the property DefinitionBody.paths./a.get.security is not " +
				"understood",
		},
		"a mapping template": {
			with("type: aws_proxy", "type: aws"),
			`11: Api: DefinitionBody.paths./a.get.x-amazon-apigateway-integration.type: "aws" is not understood, only aws_proxy`,
		},
		"an unknown method": {definition + pathOf("/a", "fetch") + rest, "11: Api: DefinitionBody.paths./" +
			"a.fetch is not a method"},
		"a method in capitals": {definition + pathOf("/a", "GET") + rest, "11: Api: DefinitionBody.paths./a.GET " +
			"is not a method"},
		"a relative path": {definition + pathOf("a", "get") + rest, `10: Api: "a" is not a path of an API`},
		"a greedy part in the middle": {definition + pathOf("/{a+}/b", "get") + rest, `10: Api: "/{a+}/b" is not a ` +
			`path of an API`},
		"a variable within a part": {definition + pathOf("/a-{b}", "get") + rest, `10: Api: "/a-{b}" is not a path ` +
			`of an API`},
		"a path given twice": {definition + pathOf("/a", "get") + pathOf("/a", "post") + rest, `12: "/a" is given twice`},
		"two variables at one place": {
			definition + pathOf("/a/{b}", "get") + pathOf("/a/{c}/d", "get") + rest,
			"12: Api: /a/{c}/d: {c} and {b} cannot stand at the same place",
		},
		"a function instead of its alias": {
			with("WorkFunction.Arn}:live", "WorkFunction.Arn}"),
			`11: Api: /a: the uri "arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/` +
				`arn:aws:lambda:us-east-1:000000000000:function:s-WorkFunction/invocations"` +
				" does not invoke the alias of a function",
		},
		"a role for Lambda": {
			with("GatewayRole.Arn", "R.Arn"), `11: Api: /a: "arn:aws:iam::000000000000:role/s-R" is not a role for API ` +
				`Gateway of the template`,
		},
		"no role": {
			with("credentials: !GetAtt GatewayRole.Arn, ", ""),
			"11: Api: DefinitionBody.paths./a.get.x-amazon-apigateway-integration.credentials is missing",
		},
		"a role that allows another function": {
			strings.Replace(definition+pathOf("/a", "get")+rest, "'${WorkFunction.Arn}:live'", "'${WorkFunction.Arn}:old'", 1),
			"11: Api: /a: GatewayRole does not allow invoking WorkFunction",
		},
		"a role that allows another action": {
			strings.Replace(definition+pathOf("/a", "get")+rest, "[lambda:InvokeFunction]", "[lambda:GetFunction]", 1),
			"11: Api: /a: GatewayRole does not allow invoking WorkFunction",
		},
	})
}
