package recordbridge

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"

	"recordbridge/infra/sdk/go/api"
)

// eventsPerPage is the number of events that a response contains at most.
const eventsPerPage = 500

// FeedEvent is an event with the cursor to continue after it.
type FeedEvent struct {
	Event

	After string
}

// Events yields the events after a cursor, oldest first. It ends with the newest event, so call it again later.
// Without a cursor, it starts with the oldest event, which is up to 15 days old. Without types, it yields every type
// except extensions. An error ends the sequence.
func (c *Client) Events(ctx context.Context, after string, types ...api.EventType) iter.Seq2[FeedEvent, error] {
	return func(yield func(FeedEvent, error) bool) {
		for more := true; more; {
			page, err := c.page(ctx, after, types)
			if err != nil {
				yield(FeedEvent{}, err)
				return
			}
			for i, event := range page.Events {
				// Only the page's last event has a cursor of its own; the others repeat the page if reading stops there.
				cursor := after
				if i == len(page.Events)-1 {
					cursor = page.After
				}
				if !yield(FeedEvent{Event: event, After: cursor}, nil) {
					return
				}
			}
			after, more = page.After, page.HasMore
		}
	}
}

// page is one response of the list of events.
type page struct {
	Events  []Event `json:"events"`
	After   string  `json:"after"`
	HasMore bool    `json:"has_more"`
}

// page requests the events after a cursor.
func (c *Client) page(ctx context.Context, after string, types []api.EventType) (page, error) {
	limit := eventsPerPage
	params := &api.ListEventsParams{Limit: &limit}
	if after != "" {
		params.After = &after
	}
	if len(types) > 0 {
		params.Types = &types
	}
	response, err := c.api.ListEventsWithResponse(ctx, params)
	if err != nil {
		return page{}, err
	}
	if response.StatusCode() != http.StatusOK {
		return page{}, refusal(response.StatusCode(), response.Body)
	}
	var body struct {
		Data page `json:"data"`
	}
	if err := json.Unmarshal(response.Body, &body); err != nil {
		return page{}, err
	}
	return body.Data, nil
}
