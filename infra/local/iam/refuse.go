package iam

import (
	"encoding/xml"
	"net/http"
	"strings"

	"recordbridge/infra/local/aws/wire"
)

// deny responds, in the service's protocol and AWS's wording, that the caller lacks permission n.
func deny(w http.ResponseWriter, r *http.Request, c wire.Call, n need) {
	action, resource := n.action, n.resource
	switch c.Service {
	case "sqs":
		action = strings.ToLower(action) // the action in SQS's message is in lower case
	case "s3":
		resource = `"` + resource + `"` // S3's message quotes the resource
	}
	message := "User: arn:aws:sts::000000000000:assumed-role/" + c.Caller + " is not authorized to perform: " + action +
		" on resource: " + resource + " because no identity-based policy allows the " + action + " action"
	switch c.Service {
	case "s3":
		writeXML(w, r, struct {
			XMLName   xml.Name `xml:"Error"`
			Code      string
			Message   string
			RequestID string `xml:"RequestId"`
		}{Code: "AccessDenied", Message: message, RequestID: w.Header().Get("X-Amz-Request-Id")})
	case "ses":
		writeXML(w, r, struct {
			XMLName xml.Name `xml:"http://ses.amazonaws.com/doc/2010-12-01/ ErrorResponse"`
			Type    string   `xml:"Error>Type"`
			Code    string   `xml:"Error>Code"`
			Message string   `xml:"Error>Message"`
		}{Type: "Sender", Code: "AccessDenied", Message: message})
	case "sqs":
		w.Header().Set("X-Amzn-Query-Error", "AccessDenied;Sender")
		failure := &wire.Error{Code: "AccessDeniedException", Message: message, Status: http.StatusForbidden}
		wire.WriteJSONError(w, "1.0", failure)
	case "dynamodb":
		wire.WriteJSONError(w, "1.0", wire.Fail("AccessDeniedException", "%s", message))
	default:
		wire.WriteJSONError(w, "1.1", wire.Fail("AccessDeniedException", "%s", message))
	}
}

func writeXML(w http.ResponseWriter, r *http.Request, value any) {
	body, err := xml.Marshal(value)
	if err != nil {
		body = nil
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusForbidden)
	if r.Method != http.MethodHead {
		_, _ = w.Write(append([]byte(xml.Header), body...)) // the client may have disconnected
	}
}
