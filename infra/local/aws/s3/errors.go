package s3

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
)

type apiError struct {
	code    string
	message string
	details []detail
}

// detail is an additional element of an error response, besides the code and message.
type detail struct {
	XMLName xml.Name
	Value   string `xml:",chardata"`
}

func (e *apiError) Error() string { return e.code + ": " + e.message }

func refuse(code, format string, args ...any) *apiError {
	return &apiError{code: code, message: fmt.Sprintf(format, args...)}
}

func (e *apiError) with(name string, value any) *apiError {
	e.details = append(e.details, detail{xml.Name{Local: name}, fmt.Sprint(value)})
	return e
}

func errMalformedXML() *apiError {
	return refuse("MalformedXML",
		"the XML you provided was not well-formed or did not validate against our published schema")
}

func errNoSuchKey(key string) *apiError {
	return refuse("NoSuchKey", "the specified key does not exist").with("Key", key)
}

func errKeyTooLong(size int) *apiError {
	return refuse("KeyTooLongError", "your key is too long").with("Size", size).with("MaxSizeAllowed", maxKeyBytes)
}

func errPrecondition(condition string) *apiError {
	return refuse("PreconditionFailed",
		"at least one of the preconditions you specified did not hold").with("Condition", condition)
}

// status returns the HTTP status for an error code, from the list "Error responses" in the S3 API reference.
func status(code string) int {
	switch code {
	case "AccessDenied", "InvalidAccessKeyId", "RequestTimeTooSkewed", "SignatureDoesNotMatch":
		return http.StatusForbidden
	case "NoSuchBucket", "NoSuchKey", "NoSuchUpload":
		return http.StatusNotFound
	case "MethodNotAllowed":
		return http.StatusMethodNotAllowed
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
	case "ServiceUnavailable", "SlowDown":
		return http.StatusServiceUnavailable
	default:
		return http.StatusBadRequest
	}
}

// writeError writes err as an error response. Any error other than an apiError indicates a bug or a full disk, and is
// reported as InternalError.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	failure, ok := errors.AsType[*apiError](err)
	if !ok {
		failure = &apiError{code: "InternalError", message: err.Error()}
	}
	body := struct {
		XMLName   xml.Name `xml:"Error"`
		Code      string
		Message   string
		Details   []detail
		Resource  string
		RequestID string `xml:"RequestId"`
	}{
		Code: failure.code, Message: failure.message, Details: failure.details, Resource: r.URL.Path,
		RequestID: w.Header().Get("X-Amz-Request-Id"),
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(status(failure.code)) // a HEAD response has no body; the SDK relies on the status
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
	_, _ = w.Write(append([]byte(xml.Header), body...)) // the client may have disconnected
}
