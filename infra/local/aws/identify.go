package aws

import (
	"encoding/xml"
	"net/http"
	"strings"

	"recordbridge/infra/local/aws/wire"
)

// identity is what a request says about itself before any service looks at it.
type identity struct {
	service string // as in wire.Call; a name that the embedded AWS does not know is possible
	caller  string // access key id, "" when the request is not signed
}

// identify returns false when r is no call to AWS.
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
	default: // "secretsmanager" is its own prefix
		return prefix
	}
}

// credential reads the access key and the service out of the credential scope, which is
// <access key>/<date>/<region>/<service>/aws4_request, in the Authorization header or in a presigned URL
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

// refuse answers in the protocol of the caller: JSON when it named a target, else the XML of the other services.
func refuse(w http.ResponseWriter, r *http.Request, code, message string) {
	if r.Header.Get("X-Amz-Target") != "" {
		wire.WriteJSONError(w, "1.1", wire.Fail(code, "%s", message))
		return
	}
	body, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"ErrorResponse"`
		Type    string   `xml:"Error>Type"`
		Code    string   `xml:"Error>Code"`
		Message string   `xml:"Error>Message"`
	}{Type: "Sender", Code: code, Message: message})
	if err != nil {
		body = nil
	}
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(body) // a client that went away needs no answer
}
