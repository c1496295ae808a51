package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// page is a response of GET /bridge/events.
type page struct {
	Events []json.RawMessage `json:"events"` // the bodies that webhooks receive
	After  string            `json:"after"`
	More   bool              `json:"has_more"`
}

// event holds the members of an event's body that the tool reads.
type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		ConnectionID string `json:"org_connection_id"`
		TaskID       string `json:"task_id"`
	} `json:"data"`
	body []byte
}

func parseEvent(body []byte) (event, error) {
	e := event{body: body}
	err := json.Unmarshal(body, &e)
	return e, err
}

// subject returns the ID of the export or the connection that the event is about, or "".
func (e event) subject() string {
	if e.Data.TaskID != "" {
		return e.Data.TaskID
	}
	return e.Data.ConnectionID
}

// errCursor reports that the API rejected a cursor, because it expired or belongs to another organisation.
var errCursor = errors.New("the cursor is no longer valid")

// read returns the events after a cursor. It repeats requests that the API couldn't process.
func (t tool) read(ctx context.Context, a account, after, types string) (page, error) {
	query := url.Values{"limit": {"500"}}
	if after != "" {
		query.Set("after", after)
	}
	if types != "" {
		query.Set("types", types)
	}
	for failures := 0; ; failures++ {
		found, pause, err := t.request(ctx, a, query)
		if err == nil || pause == 0 || failures == maxFailures {
			return found, err
		}
		fmt.Fprintf(t.out, "%s  %v; trying again in %s\n", t.clock(), err, pause)
		if err := t.wait(ctx, pause); err != nil {
			return page{}, err
		}
	}
}

const (
	maxFailures = 20
	pauseFailed = 5 * time.Second
	maxPage     = 64 << 20 // 500 events of at most 128 KB
)

// request reads one page. If repeating the request can succeed, pause is the time to wait.
func (t tool) request(ctx context.Context, a account, query url.Values) (found page, pause time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.baseURL+"/bridge/events?"+query.Encode(), nil)
	if err != nil {
		return page{}, 0, err
	}
	request.SetBasicAuth(a.publicID, a.privateKey)
	response, err := t.client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return page{}, 0, ctx.Err()
		}
		return page{}, pauseFailed, fmt.Errorf("can't reach %s", a.baseURL)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxPage))
	if err != nil {
		return page{}, pauseFailed, fmt.Errorf("read the events: %w", err)
	}
	var answer struct {
		Data        page   `json:"data"`
		Code        string `json:"error"`
		Description string `json:"error_description"`
	}
	if err = json.Unmarshal(body, &answer); err != nil {
		return page{}, pauseFailed, fmt.Errorf("%s responded with status %d and no JSON", a.baseURL, response.StatusCode)
	}
	switch status := response.StatusCode; {
	case status == http.StatusOK:
		return answer.Data, 0, nil
	case status == http.StatusBadRequest && query.Has("after"):
		return page{}, 0, errCursor
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		pause = pauseFailed
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
			pause = time.Duration(seconds) * time.Second
		}
		return page{}, pause, fmt.Errorf("%s: %s", answer.Code, answer.Description)
	default:
		return page{}, 0, fmt.Errorf("%s: %s", answer.Code, answer.Description)
	}
}

// each calls the function for each event after a cursor, oldest first, and returns the cursor after the last.
func (t tool) each(ctx context.Context, a account, after, types string, use func(event) error) (string, error) {
	for {
		found, err := t.read(ctx, a, after, types)
		if err != nil {
			return after, err
		}
		for _, body := range found.Events {
			e, err := parseEvent(body)
			if err != nil {
				return after, fmt.Errorf("read an event: %w", err)
			}
			if err = use(e); err != nil {
				return after, err
			}
		}
		after = found.After
		if !found.More {
			return after, nil
		}
	}
}

func (t tool) clock() string { return t.now().Format(time.TimeOnly) }
