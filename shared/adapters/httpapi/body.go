package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"

	"recordbridge/shared/words/fault"
)

const (
	maxBody  = 64 << 10 // body size limit in bytes (docs/openapi.yaml)
	maxDepth = 32       // exceeds the depth of any documented request body
)

// decodeBody reads a JSON object, which must be UTF-8, at most 64 KiB, and not followed by other data. Unknown members
// are ignored so that clients of later versions continue to work.
func decodeBody(r *http.Request, in any) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	if err = checkMedia(r, body); err != nil {
		return err
	}
	if err = checkJSON(body); err != nil {
		return err
	}
	err = json.Unmarshal(body, in)
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fault.BadRequest(mismatch.Field + " must be " + jsonName(mismatch.Type) +
			".").About(mismatch.Field).Because(err)
	}
	if err != nil {
		return fault.BadRequest("The request body is not valid JSON.").Because(err)
	}
	return nil
}

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, fault.BadRequest("The request body could not be read.").Because(err)
	}
	if len(body) > maxBody {
		return nil, fault.New(fault.TooLarge, fault.CodePayloadTooLarge, "The request body must not exceed 64 KiB.")
	}
	return body, nil
}

// parseForm reads the body of a submitted HTML form. The body must be application/x-www-form-urlencoded and at most 64
// KiB.
func parseForm(r *http.Request) (url.Values, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" || r.Header.Get("Content-Encoding") != "" {
		return nil, fault.New(fault.UnsupportedMedia, fault.CodeUnsupportedMediaType,
			"The request body must be uncompressed and have the content type "+
				"application/x-www-form-urlencoded.").Because(err)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, fault.BadRequest("The form data is malformed.").Because(err)
	}
	return form, nil
}

func checkMedia(r *http.Request, body []byte) error {
	unsupported := fault.New(fault.UnsupportedMedia, fault.CodeUnsupportedMediaType,
		"The request body must be uncompressed UTF-8 and have the content type application/json.")
	header := r.Header.Get("Content-Type")
	if header == "" && len(body) == 0 {
		return fault.BadRequest("A JSON request body is required.")
	}
	media, params, err := mime.ParseMediaType(header)
	charset := strings.ToLower(params["charset"])
	if err != nil || media != "application/json" || (charset != "" && charset != "utf-8") {
		return unsupported.Because(err)
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return unsupported
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return fault.BadRequest("A JSON request body is required.")
	}
	if !utf8.Valid(body) {
		return fault.BadRequest("The request body must be UTF-8.")
	}
	return nil
}

// checkJSON accepts a single JSON object that all parsers interpret in the same way. checkJSON rejects duplicate
// members within one object, data after the object, and nesting that could exhaust the stack. Like encoding/json, it
// compares member names case-insensitively.
func checkJSON(body []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	first, err := decoder.Token()
	if err != nil {
		return fault.BadRequest("The request body is not valid JSON.").Because(err)
	}
	if first != json.Delim('{') {
		return fault.BadRequest("The request body must be a JSON object.")
	}
	if err := walkObject(decoder, 1); err != nil {
		if _, ok := errors.AsType[*fault.Error](err); ok {
			return err
		}
		return fault.BadRequest("The request body is not valid JSON.").Because(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fault.BadRequest("The request body must contain exactly one JSON object.")
	}
	return nil
}

func walkObject(decoder *json.Decoder, depth int) error {
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return fmt.Errorf("read a member name: %w", err)
		}
		name, _ := token.(string)
		name = strings.ToLower(name)
		if seen[name] {
			return fault.BadRequest("The request body contains a duplicate member.")
		}
		seen[name] = true
		if err := walkValue(decoder, depth); err != nil {
			return err
		}
	}
	_, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("read the end of an object: %w", err)
	}
	return nil
}

func walkValue(decoder *json.Decoder, depth int) error {
	token, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("read a value: %w", err)
	}
	delimiter, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	if depth >= maxDepth {
		return fault.BadRequest("The request body is nested too deeply.")
	}
	if delimiter == '{' {
		return walkObject(decoder, depth+1)
	}
	for decoder.More() {
		if err := walkValue(decoder, depth+1); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("read the end of an array: %w", err)
	}
	return nil
}

// jsonName returns the name of the JSON type that a Go type accepts.
func jsonName(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // every kind that is not named here is a number
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		return "an object"
	}
	return "a number"
}
