package main

import (
	"context"
	"flag"
	"time"

	"recordbridge/shared/deliverylog"
	"recordbridge/shared/operator"
	"recordbridge/shared/webhook"
)

// listDeliveries searches the delivery log, newest first.
func listDeliveries(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("webhook log", flag.ContinueOnError)
	var q deliverylog.Query
	flags.StringVar(&q.ID, "delivery", "", "one delivery, or all of one event")
	flags.StringVar((*string)(&q.Type), "type", "", "event type")
	flags.StringVar((*string)(&q.Status), "status", "", "scheduled, inflight, delivered, exhausted or held")
	flags.TextVar(&q.From, "from", time.Time{}, "only those made at this time or later")
	flags.TextVar(&q.To, "to", time.Time{}, "only those made before this time")
	flags.StringVar(&q.After, "after", "", "go on after this position: next of the page before")
	flags.IntVar(&q.Limit, "limit", 0, "how many, 1 to 100 (default 50)")
	named := webhookFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	tenant, id, err := named()
	if err != nil {
		return nil, err
	}
	q.SubscriptionID = id
	page, err := o.Log.Search(ctx, tenant, q)
	rows := make([]map[string]any, 0, len(page.Entries))
	for _, e := range page.Entries {
		rows = append(rows, deliveryShown(e))
	}
	return map[string]any{"deliveries": rows, "next": page.Next}, err
}

// showDelivery prints one delivery with all of its attempts: what was sent and what was answered.
func showDelivery(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("webhook delivery", flag.ContinueOnError)
	id := flags.String("delivery", "", "what webhook log printed as id")
	tenantOf := tenantFlags(flags)
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	tenant, err := tenantOf()
	if err != nil {
		return nil, err
	}
	detail, err := o.Log.Show(ctx, tenant, *id)
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

func deliveryShown(e deliverylog.Entry) map[string]any {
	shown := map[string]any{
		"id": e.ID, "event": e.EventID, "type": e.Type, "webhook": e.SubscriptionID, "status": e.Status, "created_at": e.CreatedAt,
	}
	if e.Status == webhook.Scheduled {
		shown["next_attempt"], shown["next_at"] = e.Attempt, e.NextAt
	}
	return shown
}

func attemptShown(a deliverylog.Attempt) map[string]any {
	return map[string]any{
		"number": a.Number, "trigger": a.Trigger, "at": a.At, "latency": a.Latency.String(), "failure": a.Failure,
		"request_headers": a.RequestHeader, "http_status": a.Status, "response_headers": a.ResponseHeader, "answer": string(a.Answer),
	}
}
