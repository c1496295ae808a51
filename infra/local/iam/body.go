package iam

import (
	"encoding/json"
	"fmt"
	"net/http"

	"recordbridge/infra/local/aws/wire"
)

// decode reads the JSON body of r into v and leaves r as it was. What v does not ask for is passed over.
func decode(r *http.Request, v any) error {
	content, err := wire.Body(r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, v); err != nil {
		return fmt.Errorf("decode the body: %w", err)
	}
	return nil
}
