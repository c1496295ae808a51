package main

import (
	"context"
	"slices"
	"strings"

	"recordbridge/infra/local/console"
	"recordbridge/infra/local/template"
)

// mostShown is the maximum number of emails or webhooks that the console shows.
const mostShown = 100

type view struct{ stack *stack }

// Links implements console.Stack.
func (v view) Links() console.Links {
	return console.Links{
		Stack: v.stack.run.Stack, BaseURL: v.stack.run.BaseURL, InboxURL: v.stack.run.InboxURL,
		RunFile: v.stack.runFile,
	}
}

// Fire implements console.Stack.
func (v view) Fire(ctx context.Context, function string) error {
	return v.stack.triggers.Fire(ctx, function)
}

// Kill implements console.Stack.
func (v view) Kill(function string) int { return v.stack.functions.Kill(function) }

// Functions implements console.Stack.
func (v view) Functions() []console.Function {
	rates, declared := make(map[string][]string), make(map[string]template.Function)
	for _, f := range v.stack.template.Functions {
		declared[f.LogicalID] = f
		for _, s := range f.Schedules {
			rates[f.LogicalID] = append(rates[f.LogicalID], "every "+s.Every.String())
		}
	}
	all := v.stack.functions.Status()
	list := make([]console.Function, len(all))
	for i, f := range all {
		list[i] = console.Function{
			ID: f.ID, Schedule: strings.Join(rates[f.ID], ", "),
			MemoryMB: declared[f.ID].MemoryMB, Timeout: declared[f.ID].Timeout.String(), Processes: f.Processes, Busy: f.Busy,
			Invocations: f.Invocations, Failures: f.Failures, Log: append([]string{}, f.Log...),
		}
	}
	return list
}

// Mails implements console.Stack.
func (v view) Mails() []console.Mail {
	all := newest(v.stack.cloud.SES().Sent())
	list := make([]console.Mail, len(all))
	for i, m := range all {
		list[i] = console.Mail{
			ID: m.ID, At: m.At, From: m.From, To: m.To, Subject: m.Subject, Text: m.Text, HTML: m.HTML,
			HasHTML: m.HTML != "",
		}
	}
	return list
}

// Webhooks implements console.Stack.
func (v view) Webhooks() []console.Webhook {
	all := newest(v.stack.inbox.List())
	list := make([]console.Webhook, len(all))
	for i, d := range all {
		list[i] = console.Webhook{
			ID: d.Number, ReceivedAt: d.ReceivedAt, Path: d.Path, Signature: string(d.Signature), Reason: d.Reason,
			Headers: d.Headers, Body: d.Body,
		}
	}
	return list
}

// newest returns the last mostShown elements of all, newest first.
func newest[T any](all []T) []T {
	last := slices.Clone(all[max(0, len(all)-mostShown):])
	slices.Reverse(last)
	return last
}
