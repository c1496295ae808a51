package template

import (
	"regexp"
	"slices"
	"strings"
)

// gatewayVariable matches expressions in a response template that API Gateway would evaluate.
var gatewayVariable = regexp.MustCompile(`[$#][A-Za-z_!{.]*`)

// api reads the AWS::Serverless::Api resource. Throttling and tracing settings are ignored, because a local stack with
// one user does not need them.
func (b *builder) api(r resource, o *object) {
	if b.template.API.LogicalID != "" {
		o.failf(r.line, "a second API is not understood")
	}
	o.ignore("EndpointConfiguration", "TracingEnabled", "MethodSettings", "OpenApiVersion", "DisableExecuteApiEndpoint",
		"AccessLogSetting")
	api := API{
		LogicalID:        r.id,
		Stage:            o.required("StageName"),
		BinaryMediaTypes: o.texts("BinaryMediaTypes"),
		MinCompression:   o.number("MinimumCompressionSize", 1, 10<<20, 0),
		GatewayResponses: map[string]GatewayResponse{},
	}
	responses := o.object("GatewayResponses")
	for _, e := range entries(responses.node) {
		if !slices.Contains(responseTypes(), e.key) {
			o.failf(e.line, "there is no gateway response %s", e.key)
		}
		api.GatewayResponses[e.key] = gatewayResponse(responses.object(e.key))
	}
	b.paths(o, r.id)
	b.template.API = api
}

// gatewayResponse reads a gateway response's properties and rejects those that the gateway package can't render.
func gatewayResponse(o *object) GatewayResponse {
	g := GatewayResponse{StatusCode: o.number("StatusCode", 200, 599, 0)}
	parameters := o.object("ResponseParameters")
	headers := parameters.object("Headers")
	g.Headers = parameters.textMap("Headers")
	for _, e := range entries(headers.node) {
		v := e.value.Value
		literal := len(v) >= 2 && strings.HasPrefix(v, "'") && strings.HasSuffix(v, "'")
		if v != "context.requestId" && !literal {
			o.failf(e.line, "the value of %s%s is not understood, only context.requestId and 'text'", headers.where, e.key)
		}
	}
	parameters.finish()
	templates := o.object("ResponseTemplates")
	g.Body = templates.text("application/json")
	for _, variable := range gatewayVariable.FindAllString(g.Body, -1) {
		if variable != "$context.requestId" {
			o.failf(templates.line(), "%s%s is not understood in a response template, only $context.requestId",
				templates.where, variable)
		}
	}
	templates.finish()
	o.finish()
	return g
}

// responseTypes returns API Gateway's response types.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
func responseTypes() []string {
	return []string{
		"ACCESS_DENIED", "API_CONFIGURATION_ERROR", "AUTHORIZER_CONFIGURATION_ERROR", "AUTHORIZER_FAILURE",
		"BAD_REQUEST_BODY", "BAD_REQUEST_PARAMETERS", "DEFAULT_4XX", "DEFAULT_5XX", "EXPIRED_TOKEN", "INTEGRATION_FAILURE",
		"INTEGRATION_TIMEOUT", "INVALID_API_KEY", "INVALID_SIGNATURE", "MISSING_AUTHENTICATION_TOKEN", "QUOTA_EXCEEDED",
		"REQUEST_TOO_LARGE", "RESOURCE_NOT_FOUND", "THROTTLED", "UNAUTHORIZED", "UNSUPPORTED_MEDIA_TYPE", "WAF_FILTERED",
	}
}
