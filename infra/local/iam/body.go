package iam

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// decode reads the JSON body of r into v and leaves r as it was. What v does not ask for is passed over.
func decode(r *http.Request, v any) error {
	// Package sigv4 has read the body before and left one that knows its bytes.
	kept, ok := r.Body.(interface{ Bytes() []byte })
	if ok {
		return unmarshal(kept.Bytes(), v)
	}
	content, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("read the body: %w", err)
	}
	r.Body = io.NopCloser(bytes.NewReader(content))
	return unmarshal(content, v)
}

func unmarshal(content []byte, v any) error {
	if err := json.Unmarshal(content, v); err != nil {
		return fmt.Errorf("decode the body: %w", err)
	}
	return nil
}
