package main

import (
	"context"
	"flag"
	"time"

	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/org"
)

func deliveryCommands() []command {
	return []command{
		{
			name: "webhook log", help: "Searches the last 15 days of the delivery log, newest first",
			needs: []string{"org"}, declare: listDeliveries,
			flags: ofTenant + " [-id ID] [-delivery ID] [-type TYPE] [-status STATUS] [-from TIME] [-to TIME] [-after " +
				"POSITION] [-limit N]",
		},
		{
			name: "webhook replay", help: "Sends deliveries again", needs: []string{"org"}, declare: replayWebhook,
			flags: ofTenant + " (-delivery ID | -id ID -failed-since TIME | -id ID -from TIME -to TIME)",
		},
		{
			name: "webhook simulate", flags: ofTenant + " -type TYPE [-id ID]",
			help:  "Sends an event with sample data; webhook.test is also sent if nothing subscribes to it",
			needs: []string{"org", "type"}, declare: simulateEvent,
		},
	}
}

// listDeliveries prints matching deliveries from the delivery log, newest first.
func listDeliveries(flags *flag.FlagSet) action {
	var q deliverylog.Query
	flags.StringVar(&q.ID, "delivery", "", "`id` of a delivery, or of an event to list all its deliveries")
	flags.StringVar((*string)(&q.Type), "type", "", "event `type`")
	flags.StringVar((*string)(&q.Status), "status", "", "`scheduled`, inflight, delivered, exhausted or held")
	flags.TextVar(&q.From, "from", time.Time{}, "only deliveries created at or after this `time`")
	flags.TextVar(&q.To, "to", time.Time{}, "only deliveries created before this `time`")
	flags.StringVar(&q.After, "after", "", "continue after this `position`, which is next on the previous page")
	flags.IntVar(&q.Limit, "limit", 0, "page size, 1 to 100 (default 50)")
	id := webhookFlag(flags)
	return forTenant(flags, seekDelivery(&q.ID, id), func(ctx context.Context, s session, tenant org.Tenant) (any,
		error,
	) {
		if _, ok := webhook.ParseType(string(q.Type)); q.Type != "" && !ok {
			return nil, misused("-type: unknown event type %q", q.Type)
		}
		if given(flags, "limit") && q.Limit == 0 {
			return nil, misused("-limit must be from 1 to 100")
		}
		q.SubscriptionID = *id
		page, err := s.Log.Search(ctx, tenant, q)
		rows := make([]map[string]any, 0, len(page.Entries))
		for _, e := range page.Entries {
			rows = append(rows, deliveryShown(e))
		}
		return map[string]any{"deliveries": rows, "next": page.Next}, err
	})
}

// delivery returns a delivery with the request and response of each attempt.
func (s session) delivery(ctx context.Context, tenant org.Tenant, id string) (any, error) {
	detail, err := s.Log.Show(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	attempts := make([]map[string]any, 0, len(detail.Attempts))
	for _, a := range detail.Attempts {
		attempts = append(attempts, attemptShown(a))
	}
	shown := deliveryShown(detail.Entry)
	shown["body"], shown["attempts"] = string(detail.Body), attempts
	return shown, nil
}

func replayWebhook(flags *flag.FlagSet) action {
	delivery := flags.String("delivery", "", "`id` of one delivery, regardless of status")
	since := timeFlag(flags, "failed-since",
		"failed and held deliveries created since this `time`, including those that wait for a retry")
	from := timeFlag(flags, "from", "deliveries created at or after this `time`, delivered or not")
	to := timeFlag(flags, "to", "only deliveries created before this `time`")
	id := flags.String("id", "", "`id` of the webhook")
	return forTenant(flags, seekDelivery(delivery, id), func(ctx context.Context, s session, tenant org.Tenant) (any,
		error,
	) {
		isOne, isSince, isRange := *delivery != "", *id != "" && !since.IsZero(), *id != "" && !from.IsZero() && !to.IsZero()
		switch flags.NFlag() - countGiven(flags, "org", "mode", "o", "yes") {
		case 1:
			if isOne {
				return map[string]any{"replayed": 1}, s.Deliveries.Replay(ctx, tenant, *delivery)
			}
		case 2:
			if isSince {
				count, err := s.Deliveries.ReplayFailed(ctx, tenant, *id, *since)
				return map[string]any{"replayed": count}, err
			}
		case 3:
			if isRange {
				count, err := s.Deliveries.ReplayRange(ctx, tenant, *id, *from, *to)
				return map[string]any{"replayed": count}, err
			}
		}
		return nil, misused("nothing to replay: set -delivery, -id with -failed-since, or -id with -from and -to")
	})
}

func simulateEvent(flags *flag.FlagSet) action {
	id := flags.String("id", "", "webhook `id` (default: all webhooks subscribed to the event type)")
	name := flags.String("type", "", "event `type`")
	return forTenant(flags, seekWebhook(id), func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		types, err := typesOf([]string{*name})
		if err != nil {
			return nil, err
		}
		var event string
		if *id == "" && types[0] == webhook.TestEvent {
			event, err = s.Deliveries.SendTest(ctx, tenant)
		} else {
			event, err = s.Deliveries.Simulate(ctx, tenant, *id, types[0])
		}
		return map[string]any{"event_id": event}, err
	})
}

func timeFlag(flags *flag.FlagSet, name, usage string) *time.Time {
	at := &time.Time{}
	flags.TextVar(at, name, time.Time{}, usage)
	return at
}

func countGiven(flags *flag.FlagSet, names ...string) int {
	count := 0
	for _, name := range names {
		if given(flags, name) {
			count++
		}
	}
	return count
}

func deliveryShown(e deliverylog.Entry) map[string]any {
	shown := map[string]any{
		"id": e.ID, "event": e.EventID, "type": e.Type, "webhook": e.SubscriptionID, "status": e.Status,
		"created_at": e.CreatedAt,
	}
	if e.Status == webhook.Scheduled {
		shown["next_attempt"], shown["next_at"] = e.Attempt, e.NextAt
	}
	return shown
}

func attemptShown(a deliverylog.Attempt) map[string]any {
	return map[string]any{
		"number": a.Number, "trigger": a.Trigger, "at": a.At, "latency": a.Latency.String(), "failure": a.Failure,
		"request_headers": a.RequestHeader, "http_status": a.Status, "response_headers": a.ResponseHeader,
		"answer": string(a.Answer),
	}
}
