package webhook

import (
	"context"
	"log/slog"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

// tell logs an attempt that failed or that disables its subscription. disabled is the reason for disabling the
// subscription, or empty if it is not disabled. d holds the state that is about to be stored. tell logs only the URL's
// host, because customers may put secrets in the rest of the URL.
func (d dispatch) tell(ctx context.Context, a Attempt, disabled Reason) {
	spot := fault.Spot{
		Step: fault.StepNotify, Host: fault.HostOf(d.subscription.URL), Status: a.Status,
		Class: string(a.Failure),
	}
	line := append(d.attrs(), slog.Int("attempt", a.Number), slog.String("delivery_status", string(d.delivery.Status)))
	line = append(line, logx.Spot(spot)...)
	if d.delivery.Status == Scheduled {
		line = append(line, slog.Time("next_at", d.delivery.NextAt))
	}
	if disabled != "" {
		line = append(line, slog.String("disabled", string(disabled)))
	}
	logx.Note(ctx, "webhookworker.attempt", line...)
}

// count adds the attempt and its response time to the metrics. For a delivery's first attempt, count also adds the
// event's age.
func (d dispatch) count(ctx context.Context, a Attempt) {
	outcome := string(a.Failure)
	if a.Failure == "" {
		outcome = "delivered"
	}
	logx.Measure(ctx, metric.Count(metric.WebhookAttempts, outcome), metric.Seconds(metric.WebhookSeconds, "", a.Latency))
	if a.Number == 1 && a.Trigger == ByClock {
		logx.Measure(ctx, metric.Seconds(metric.DeliverySeconds, "", a.At.Sub(d.event.CreatedAt)))
	}
}

// tellHeld logs a delivery that is held because its subscription is disabled.
func (d dispatch) tellHeld(ctx context.Context) {
	s := d.subscription
	logx.Note(ctx, "webhookworker.held", append(d.attrs(),
		slog.String("step", string(fault.StepNotify)), slog.String("host", fault.HostOf(s.URL)),
		slog.String("disabled", string(s.DisabledFor)))...)
}

func (d dispatch) attrs() []slog.Attr {
	return []slog.Attr{
		logx.Failed(), slog.String("org_id", d.event.Tenant.OrgID), slog.String("mode", string(d.event.Tenant.Mode)),
		slog.String("event_id", d.event.ID), slog.String("event_type", string(d.event.Type)),
		slog.String("delivery_id", d.delivery.ID),
		slog.String("subscription_id", d.subscription.ID),
	}
}
