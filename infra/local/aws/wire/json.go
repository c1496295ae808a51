package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// maxBody exceeds every request size limit of the JSON services. The largest limit is 16 MB, for DynamoDB's
// BatchWriteItem.
const maxBody = 17 << 20

// Error is an error response of an AWS JSON service.
type Error struct {
	Code    string         // error code, such as "ConditionalCheckFailedException"
	Message string         // in AWS's wording if Recordbridge's code or people who read the logs see it
	Status  int            // HTTP status; zero means 400
	Fields  map[string]any // additional fields of the body, such as "Item" or "CancellationReasons"
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Fail returns an Error with status 400.
func Fail(code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Operation performs an operation of a JSON service. body is the request body.
type Operation func(ctx context.Context, body []byte) (any, error)

// JSONService implements the methods common to services that use the AWS JSON protocol. Services that use this protocol
// embed a JSONService.
type JSONService struct {
	ServiceName string               // return value of the Name method
	Version     string               // protocol version: "1.0" or "1.1"
	Operations  map[string]Operation // operations by name
}

// Name implements Service.
func (s *JSONService) Name() string { return s.ServiceName }

// Operation implements Service.
func (s *JSONService) Operation(r *http.Request) string { return Target(r) }

// Serve implements Service.
func (s *JSONService) Serve(w http.ResponseWriter, r *http.Request, _ Call) {
	ServeJSON(w, r, s.Version, s.Operations)
}

// Typed returns an Operation that decodes the request body and calls f. Like AWS, the Operation ignores unknown fields.
func Typed[In any](f func(ctx context.Context, in *In) (any, error)) Operation {
	return func(ctx context.Context, body []byte) (any, error) {
		var in In
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, Fail("SerializationException", "%v", err)
		}
		return f(ctx, &in)
	}
}

// Body returns r's body without consuming it. Package sigv4 buffers each request's body, so middleware can call Body
// several times without copying it.
func Body(r *http.Request) ([]byte, error) {
	if kept, ok := r.Body.(interface{ Bytes() []byte }); ok {
		return kept.Bytes(), nil
	}
	if r.Body == nil {
		return nil, nil
	}
	content, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	r.Body = io.NopCloser(bytes.NewReader(content))
	return content, nil
}

// Target returns the operation in the X-Amz-Target header, such as "PutItem" for "DynamoDB_20120810.PutItem".
func Target(r *http.Request) string {
	_, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return name
}

// ServeJSON serves r with one of ops, using the given version of the AWS JSON protocol ("1.0" or "1.1").
func ServeJSON(w http.ResponseWriter, r *http.Request, version string, ops map[string]Operation) {
	body, err := Body(r)
	if err != nil {
		WriteJSONError(w, version, Fail("RequestEntityTooLarge", "request body is too large"))
		return
	}
	op, ok := ops[Target(r)]
	if !ok {
		WriteJSONError(w, version, Fail("UnknownOperationException",
			"operation %q is not part of the embedded AWS", Target(r)))
		return
	}
	out, err := op(r.Context(), body)
	if err != nil {
		WriteJSONError(w, version, err)
		return
	}
	if out == nil {
		out = struct{}{}
	}
	writeJSON(w, version, http.StatusOK, out)
}

// WriteJSONError writes err as an AWS JSON service does. Any error that is not an *Error becomes InternalServerError.
func WriteJSONError(w http.ResponseWriter, version string, err error) {
	failure, ok := errors.AsType[*Error](err)
	if !ok {
		failure = &Error{Code: "InternalServerError", Message: err.Error(), Status: http.StatusInternalServerError}
	}
	body := map[string]any{"__type": failure.Code, "message": failure.Message}
	maps.Copy(body, failure.Fields)
	writeJSON(w, version, max(failure.Status, http.StatusBadRequest), body)
}

// Appender is a response that appends its own JSON encoding. A json.Marshaler would be slower, because encoding/json
// rescans its output.
type Appender interface {
	AppendJSON(to []byte) []byte
}

func marshal(value any) ([]byte, error) {
	if own, ok := value.(Appender); ok {
		return own.AppendJSON(make([]byte, 0, 1024)), nil
	}
	return json.Marshal(value)
}

func writeJSON(w http.ResponseWriter, version string, status int, value any) {
	body, err := marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"__type":"InternalServerError"}`)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-"+version)
	// DynamoDB clients verify this checksum, and log a warning for every response that lacks it.
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}
