package job

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// ask reads the export's status from the API. If the export has ended, ask returns its result in the form of a webhook
// event. If the export is still running, the event is empty.
func (j *Job) ask(ctx context.Context, taskID string) (event, error) {
	at := j.stack.BaseURL + "/bridge/fhir/ehi-export/" + url.PathEscape(taskID) + "?include=result"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return event{}, fmt.Errorf("request: %w", err)
	}
	r.SetBasicAuth(j.org.PublicID, j.org.PrivateKey)
	response, err := j.client.Do(r)
	if err != nil {
		return event{}, fmt.Errorf("request: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Data struct {
			result

			Status string `json:"status"`
		} `json:"data"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return event{}, fmt.Errorf("decode the export: %w", err)
	}
	switch answer.Data.Status {
	case "success":
		return event{ID: taskID, Type: succeeded, Data: answer.Data.result}, nil
	case "failed":
		return event{ID: taskID, Data: answer.Data.result}, nil
	}
	return event{}, nil
}
