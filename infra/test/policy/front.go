package policy

import (
	"regexp"
	"slices"
)

// logged is all that the API's access log may tell of a request: nothing that a patient, a portal or an organisation has chosen, and
// not where it came from. The path is its pattern.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
func logged() []string {
	return []string{
		"$context.requestTimeEpoch", "$context.requestId", "$context.httpMethod", "$context.resourcePath", "$context.status",
		"$context.responseLatency", "$context.integrationLatency", "$context.responseLength", "$context.error.responseType",
	}
}

var contextVariable = regexp.MustCompile(`\$[A-Za-z.]+`)

// Front finds an API that logs more of its requests than it may, a firewall that keeps samples of them, and a name that takes old
// versions of TLS or leaves the API's first address open.
func Front(s *Stack) []Finding {
	var found findings
	for _, a := range s.of(kindAPI) {
		accessLog(a, &found)
	}
	for _, d := range s.of("AWS::ApiGateway::DomainName") {
		for _, a := range s.of(kindAPI) {
			if !slices.Equal(list(at(a.Properties, "DisableExecuteApiEndpoint", "Fn::If")), []any{d.Condition, "true", "false"}) {
				found.addf(a.ID, "answers at its first address beside %s", d.ID)
			}
		}
		if scalar(d.Properties["SecurityPolicy"]) != "TLS_1_2" {
			found.addf(d.ID, "takes old versions of TLS")
		}
	}
	for _, w := range s.of("AWS::WAFv2::WebACL") {
		for _, v := range append(list(w.Properties["Rules"]), any(w.Properties)) {
			if scalar(at(v, "VisibilityConfig", "SampledRequestsEnabled")) != "false" {
				found.addf(w.ID, "keeps samples of requests")
			}
		}
	}
	return found.sorted()
}

// accessLog finds what an API's access log tells too much.
func accessLog(api Resource, found *findings) {
	choice := list(at(api.Properties, "AccessLogSetting", "Fn::If"))
	if len(choice) != 3 {
		found.addf(api.ID, "has no access log that can be switched on")
		return
	}
	for _, v := range contextVariable.FindAllString(scalar(at(choice[1], "Format")), -1) {
		if !slices.Contains(logged(), v) {
			found.addf(api.ID, "logs %s", v)
		}
	}
}
