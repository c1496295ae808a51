package s3

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
)

// apiError is an error answer of S3.
type apiError struct {
	code    string
	message string
}

func (e *apiError) Error() string { return e.code + ": " + e.message }

func refuse(code, format string, args ...any) error {
	return &apiError{code: code, message: fmt.Sprintf(format, args...)}
}

// status gives the HTTP status of an error code, from the list "Error responses" of the S3 API reference.
func status(code string) int {
	switch code {
	case "NotModified":
		return http.StatusNotModified
	case "AccessDenied", "InvalidAccessKeyId", "RequestTimeTooSkewed", "SignatureDoesNotMatch":
		return http.StatusForbidden
	case "NoSuchBucket", "NoSuchKey", "NoSuchLifecycleConfiguration", "NoSuchUpload":
		return http.StatusNotFound
	case "BucketAlreadyOwnedByYou":
		return http.StatusConflict
	case "MissingContentLength":
		return http.StatusLengthRequired
	case "PreconditionFailed":
		return http.StatusPreconditionFailed
	case "InvalidRange":
		return http.StatusRequestedRangeNotSatisfiable
	case "InternalError":
		return http.StatusInternalServerError
	case "NotImplemented":
		return http.StatusNotImplemented
	default:
		return http.StatusBadRequest
	}
}

// writeError answers with err; an error that is no apiError is a defect or a full disk and becomes InternalError.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	failure, ok := errors.AsType[*apiError](err)
	if !ok {
		failure = &apiError{code: "InternalError", message: err.Error()}
	}
	body := struct {
		XMLName   xml.Name `xml:"Error"`
		Code      string
		Message   string
		Resource  string
		RequestID string `xml:"RequestId"`
	}{Code: failure.code, Message: failure.message, Resource: r.URL.Path, RequestID: w.Header().Get("X-Amz-Request-Id")}
	if r.Method == http.MethodHead || failure.code == "NotModified" {
		w.WriteHeader(status(failure.code)) // neither has a body: the SDK goes by the status
		return
	}
	writeXML(w, status(failure.code), body)
}

func writeXML(w http.ResponseWriter, status int, value any) {
	body, err := xml.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte("<Error><Code>InternalError</Code></Error>")
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = w.Write(append([]byte(xml.Header), body...)) // a client that went away needs no answer
}
