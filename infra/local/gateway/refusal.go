package gateway

import (
	"encoding/json"
	"net/http"
	"strings"

	"recordbridge/infra/local/template"
)

// refuse responds with the template's gateway response of the given type, without invoking a function. If the template
// does not define the response type, refuse uses the template's DEFAULT_4XX or DEFAULT_5XX, or API Gateway's built-in
// response if neither is defined. A status that the template sets on a default response also applies to all types that
// fall back to that default.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
func (g *gateway) refuse(w http.ResponseWriter, x exchange, kind string) {
	status, text := builtIn(kind)
	fallback := "DEFAULT_4XX"
	if status >= http.StatusInternalServerError {
		fallback = "DEFAULT_5XX"
	}
	response, declared := g.options.API.GatewayResponses[kind]
	if !declared {
		response = g.options.API.GatewayResponses[fallback]
	}
	if response.StatusCode != 0 {
		status = response.StatusCode
	}
	w.Header().Set("Content-Type", "application/json")
	for name, value := range response.Headers {
		w.Header().Set(name, evaluate(value, x.id))
	}
	w.WriteHeader(status)
	_, _ = w.Write(bodyOf(response, text, x.id)) // the client may have disconnected
}

// evaluate returns the value of a gateway response's header, which is either a 'literal' or context.requestId. Package
// template has already validated the value.
func evaluate(value, requestID string) string {
	if value == "context.requestId" {
		return requestID
	}
	return value[1 : len(value)-1]
}

func bodyOf(response template.GatewayResponse, text, requestID string) []byte {
	if response.Body != "" {
		return []byte(strings.ReplaceAll(response.Body, "$context.requestId", requestID))
	}
	body, err := json.Marshal(map[string]string{"message": text})
	if err != nil {
		return nil
	}
	return body
}

// builtIn returns API Gateway's own response for a type that the template does not define. The status for
// INTEGRATION_FAILURE is 502, the status for Lambda proxy integrations, rather than the 504 in the guide's table.
func builtIn(kind string) (status int, text string) {
	switch kind {
	case "MISSING_AUTHENTICATION_TOKEN":
		return http.StatusForbidden, "Missing Authentication Token"
	case "REQUEST_TOO_LARGE":
		return http.StatusRequestEntityTooLarge, "Request Too Long"
	case "INTEGRATION_TIMEOUT":
		return http.StatusGatewayTimeout, "Endpoint request timed out"
	case "INTEGRATION_FAILURE":
		return http.StatusBadGateway, "Internal server error"
	case "API_CONFIGURATION_ERROR":
		return http.StatusInternalServerError, "Internal server error"
	}
	return http.StatusBadRequest, "Bad Request"
}
