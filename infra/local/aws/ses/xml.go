package ses

import (
	"encoding/xml"
	"errors"
	"net/http"

	"recordbridge/infra/local/aws/wire"
)

// response is a Query protocol response. The names of the outer elements depend on the operation.
type response struct {
	XMLName xml.Name
	Result  result
	Request string `xml:"ResponseMetadata>RequestId"`
}

// result holds the result of one operation.
type result struct {
	XMLName         xml.Name
	MessageID       string       `xml:"MessageId,omitempty"`
	Max24HourSend   float64      `xml:",omitempty"`
	MaxSendRate     float64      `xml:",omitempty"`
	SentLast24Hours *float64     `xml:",omitempty"`
	Enabled         *bool        `xml:",omitempty"`
	Identities      []attributes `xml:"VerificationAttributes>entry,omitempty"`
}

// attributes holds the verification status of an identity.
type attributes struct {
	Identity string `xml:"key"`
	Status   string `xml:"value>VerificationStatus"`
}

type errorResponse struct {
	XMLName xml.Name `xml:"http://ses.amazonaws.com/doc/2010-12-01/ ErrorResponse"`
	Type    string   `xml:"Error>Type"`
	Code    string   `xml:"Error>Code"`
	Message string   `xml:"Error>Message"`
}

func writeError(w http.ResponseWriter, err error) {
	failure, ok := errors.AsType[*wire.Error](err)
	if !ok {
		writeXML(w, http.StatusInternalServerError,
			errorResponse{Type: "Receiver", Code: "InternalFailure", Message: err.Error()})
		return
	}
	writeXML(w, max(failure.Status, http.StatusBadRequest),
		errorResponse{Type: "Sender", Code: failure.Code, Message: failure.Message})
}

func writeXML(w http.ResponseWriter, status int, value any) {
	body, err := xml.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}
