package main

import (
	"context"
	"slices"
	"strings"

	"recordbridge/infra/local/console"
)

// mostShown is how many mails and webhooks the console shows.
const mostShown = 100

// view is the stack as the console shows it.
type view struct{ stack *stack }

// State implements console.Stack.
func (v view) State() console.State {
	return console.State{
		BaseURL: v.stack.run.BaseURL, InboxURL: v.stack.run.InboxURL, RunFile: v.stack.runFile,
		Functions: v.functions(), Queues: v.queues(), Mails: v.mails(), Webhooks: v.webhooks(),
	}
}

// Fire implements console.Stack.
func (v view) Fire(ctx context.Context, function string) error {
	return v.stack.triggers.Fire(ctx, function)
}

// Kill implements console.Stack.
func (v view) Kill(function string) int { return v.stack.functions.Kill(function) }

func (v view) functions() []console.Function {
	rates := make(map[string][]string)
	for _, f := range v.stack.template.Functions {
		for _, s := range f.Schedules {
			rates[f.LogicalID] = append(rates[f.LogicalID], "every "+s.Every.String())
		}
	}
	all := v.stack.functions.Status()
	list := make([]console.Function, len(all))
	for i, f := range all {
		list[i] = console.Function{
			ID: f.ID, Schedule: strings.Join(rates[f.ID], ", "), Processes: f.Processes, Busy: f.Busy,
			Invocations: f.Invocations, Failures: f.Failures, Log: append([]string{}, f.Log...),
		}
	}
	return list
}

func (v view) queues() []console.Queue {
	all := v.stack.cloud.SQS().Snapshot()
	list := make([]console.Queue, len(all))
	for i, q := range all {
		list[i] = console.Queue{
			Name: q.Name, Visible: q.Visible, InFlight: q.InFlight, Delayed: q.Delayed, DeadLetter: q.DeadLetter,
		}
	}
	return list
}

func (v view) mails() []console.Mail {
	all := newest(v.stack.cloud.SES().Sent())
	list := make([]console.Mail, len(all))
	for i, m := range all {
		list[i] = console.Mail{At: m.At, To: m.To, Subject: m.Subject, Text: m.Text}
	}
	return list
}

func (v view) webhooks() []console.Webhook {
	all := newest(v.stack.inbox.List())
	list := make([]console.Webhook, len(all))
	for i, d := range all {
		list[i] = console.Webhook{ReceivedAt: d.ReceivedAt, Path: d.Path, Verdict: string(d.Verdict), Body: d.Body}
	}
	return list
}

// newest returns the last elements of all, the very last one first.
func newest[T any](all []T) []T {
	last := slices.Clone(all[max(0, len(all)-mostShown):])
	slices.Reverse(last)
	return last
}
