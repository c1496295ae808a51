package aws

import (
	"encoding/xml"
	"net/http"

	"recordbridge/infra/local/aws/sigv4"
	"recordbridge/infra/local/aws/wire"
)

// refuse writes the error response for a call that does not reach its service. The response uses the service's
// protocol: XML for S3, JSON if the request has a target, and otherwise the Query protocol's XML.
func (c *Cloud) refuse(w http.ResponseWriter, r *http.Request, id identity, code, message string) {
	switch {
	case id.service == c.s3.Name():
		c.s3.Refuse(w, r, code, message)
	case id.service == c.sqs.Name():
		// SQS still uses the Query protocol's error codes and statuses.
		w.Header().Set("X-Amzn-Query-Error", sigv4.QueryCode(code)+";Sender")
		wire.WriteJSONError(w, "1.0", &wire.Error{Code: code, Message: message, Status: http.StatusForbidden})
	case id.service == c.dynamodb.Name():
		wire.WriteJSONError(w, "1.0", wire.Fail(code, "%s", message))
	case r.Header.Get("X-Amz-Target") != "":
		wire.WriteJSONError(w, "1.1", wire.Fail(code, "%s", message))
	default:
		refuseQuery(w, code, message)
	}
}

func refuseQuery(w http.ResponseWriter, code, message string) {
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
	w.WriteHeader(queryStatus(code))
	_, _ = w.Write(body) // the client may have disconnected
}

// queryStatus returns the HTTP status for an error code ("Common errors" of the SES API reference).
func queryStatus(code string) int {
	switch code {
	case "MissingAuthenticationToken", "IncompleteSignature", "SignatureDoesNotMatch", "InvalidClientTokenId":
		return http.StatusForbidden
	default:
		return http.StatusBadRequest
	}
}
