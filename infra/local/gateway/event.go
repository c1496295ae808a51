package gateway

import (
	"encoding/base64"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// event returns the input event of a proxy integration.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
func (g *gateway) event(x exchange, body []byte) events.APIGatewayProxyRequest {
	r, now := x.request, g.options.Now()
	headers, query := passedHeaders(r), map[string][]string(r.URL.Query())
	e := events.APIGatewayProxyRequest{
		Resource:                        x.match.resource,
		Path:                            x.path,
		HTTPMethod:                      r.Method,
		Headers:                         lastValues(headers),
		MultiValueHeaders:               headers,
		QueryStringParameters:           lastValues(query),
		MultiValueQueryStringParameters: query,
		PathParameters:                  x.match.parameters,
		Body:                            string(body),
		RequestContext: events.APIGatewayProxyRequestContext{
			AccountID:         "000000000000",
			APIID:             g.options.API.LogicalID,
			Stage:             g.options.API.Stage,
			DomainName:        r.Host,
			RequestID:         x.id,
			ExtendedRequestID: x.extendedID,
			Protocol:          r.Proto,
			ResourcePath:      x.match.resource,
			Path:              "/" + g.options.API.Stage + x.path,
			HTTPMethod:        r.Method,
			RequestTime:       now.UTC().Format("02/Jan/2006:15:04:05 -0700"),
			RequestTimeEpoch:  now.UnixMilli(),
			Identity:          events.APIGatewayRequestIdentity{SourceIP: sourceIP(r), UserAgent: r.UserAgent()},
		},
	}
	// AWS sends null for an empty query.
	if len(query) == 0 {
		e.QueryStringParameters, e.MultiValueQueryStringParameters = nil, nil
	}
	if len(x.match.parameters) == 0 {
		e.PathParameters = nil
	}
	if len(body) > 0 && g.binary(r.Header.Get("Content-Type")) {
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return e
}

// binary reports whether a media type is one of the API's binary media types. Request bodies of such types are
// base64-encoded in the event.
func (g *gateway) binary(mediaType string) bool {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	types := g.options.API.BinaryMediaTypes
	return slices.Contains(types, "*/*") || slices.Contains(types, strings.ToLower(strings.TrimSpace(mediaType)))
}

// passedHeaders returns the headers that a function receives: the client's headers except those about the connection,
// and API Gateway's headers about the request's origin. The client's X-Forwarded-Port and X-Forwarded-Proto are
// replaced, and its IP address is appended to X-Forwarded-For.
func passedHeaders(r *http.Request) map[string][]string {
	headers := r.Header.Clone()
	for _, name := range []string{
		"Connection", "Content-Length", "Content-Md5", "Expect", "Keep-Alive", "Max-Forwards", "Proxy-Authenticate",
		"Proxy-Connection", "Server", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Via", "Www-Authenticate",
	} {
		headers.Del(name)
	}
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	before := strings.Join(r.Header.Values("X-Forwarded-For"), ", ")
	headers.Set("Host", r.Host)
	headers.Set("X-Forwarded-For", strings.TrimPrefix(before+", "+sourceIP(r), ", "))
	headers.Set("X-Forwarded-Port", port)
	headers.Set("X-Forwarded-Proto", "http")
	return headers
}

func sourceIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// lastValues returns a single-value map with the last value for each name.
func lastValues(multi map[string][]string) map[string]string {
	single := map[string]string{}
	for name, values := range multi {
		if len(values) > 0 {
			single[name] = values[len(values)-1]
		}
	}
	return single
}
