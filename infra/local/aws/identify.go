package aws

import (
	"net/http"
	"strings"
)

// identity holds the caller and service that a request claims, before verification.
type identity struct {
	service string // service name as in wire.Call; may be unknown
	caller  string // access key ID, or "" if the request is not signed
}

// identify extracts the identity from r, or returns false if r is not an AWS call.
func identify(r *http.Request) (identity, bool) {
	caller, scope, signed := credential(r)
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		prefix, _, _ := strings.Cut(target, ".")
		return identity{service: serviceOfTarget(prefix), caller: caller}, true
	}
	return identity{service: scope, caller: caller}, signed
}

func serviceOfTarget(prefix string) string {
	switch prefix {
	case "DynamoDB_20120810":
		return "dynamodb"
	case "AmazonSQS":
		return "sqs"
	case "TrentService":
		return "kms"
	case "AmazonSSM":
		return "ssm"
	default: // Secrets Manager's signing name is also its service name
		return prefix
	}
}

// credential returns the access key and service in a request's credential scope, <access
// key>/<date>/<region>/<service>/aws4_request. The scope is in the Authorization header or in a presigned URL
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html).
func credential(r *http.Request) (caller, service string, ok bool) {
	scope := ""
	if parameters, signed := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "); signed {
		for parameter := range strings.SplitSeq(parameters, ",") {
			if value, found := strings.CutPrefix(strings.TrimSpace(parameter), "Credential="); found {
				scope = value
			}
		}
	} else if strings.Contains(r.URL.RawQuery, "X-Amz-Credential=") {
		scope = r.URL.Query().Get("X-Amz-Credential")
	}
	parts := strings.Split(scope, "/")
	if len(parts) != 5 || parts[4] != "aws4_request" {
		return "", "", false
	}
	return parts[0], parts[3], true
}
