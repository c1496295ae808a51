// Package control serves the few control-plane calls that operators' commands make (docs/operate): CloudFormation's
// descriptions of the stack, and Lambda's event source mappings and versions. The package changes the state of the
// runner's triggers and functions, and stores nothing itself: a restarted runner has the template's state.
//
// Rules without a cited source follow the API reference of each service.
package control

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/http"

	"recordbridge/infra/local/aws/wire"
)

// stateless implements the persistence methods of wire.Service for a service without state of its own.
type stateless struct{}

// Replay implements wire.Service.
func (stateless) Replay(json.RawMessage) error { return errors.New("the service has no records") }

// Dump implements wire.Service.
func (stateless) Dump(func(any) error) error { return nil }

type errorResponse struct {
	XMLName xml.Name `xml:"http://cloudformation.amazonaws.com/doc/2010-05-15/ ErrorResponse"`
	Type    string   `xml:"Error>Type"`
	Code    string   `xml:"Error>Code"`
	Message string   `xml:"Error>Message"`
}

func writeXMLError(w http.ResponseWriter, err error) {
	failure, ok := errors.AsType[*wire.Error](err)
	if !ok {
		writeXML(w, http.StatusInternalServerError,
			errorResponse{Type: "Receiver", Code: "InternalFailure", Message: err.Error()})
		return
	}
	writeXML(w, http.StatusBadRequest, errorResponse{Type: "Sender", Code: failure.Code, Message: failure.Message})
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
