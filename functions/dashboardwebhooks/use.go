package dashboardwebhooks

import (
	"context"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/timestamp"
)

type rotating struct {
	ID     string `path:"webhookId"`
	AtOnce bool   `json:"at_once"` // true to expire older secrets immediately instead of after 24 hours
}

type enabling struct {
	ID     string `path:"webhookId"`
	Replay bool   `json:"replay_missed"`
}

type simulating struct {
	ID   string `path:"webhookId"`
	Type string `json:"type" required:"true"`
}

// replaying selects either the failed and held deliveries since a given time, or all deliveries within a time range.
type replaying struct {
	ID      string `path:"webhookId"`
	Since   string `json:"since"`
	From    string `json:"from"`
	To      string `json:"to"`
	Preview bool   `json:"preview"` // true to count the failed deliveries instead of replaying them
}

func (d Deps) reveal(ctx context.Context, v httpapi.Visitor, in one) (secretList, error) {
	all, err := d.as(v).Reveal(ctx, v.Tenant, in.ID)
	if err != nil {
		return secretList{}, missing(err)
	}
	list := secretList{Secrets: make([]signing, 0, len(all))}
	for _, r := range all {
		list.Secrets = append(list.Secrets, signing{Secret: r.Secret.Reveal(), ExpiresAt: timestamp.Of(r.ExpiresAt)})
	}
	return list, nil
}

func (d Deps) rotate(ctx context.Context, v httpapi.Visitor, in rotating) (newHook, error) {
	s, fresh, err := d.as(v).Rotate(ctx, v.Tenant, in.ID, in.AtOnce)
	if err != nil {
		return newHook{}, missing(err)
	}
	return newHook{Webhook: hookOf(s), Secret: fresh.Reveal()}, nil
}

func (d Deps) disable(ctx context.Context, v httpapi.Visitor, in one) (hook, error) {
	if err := d.as(v).Disable(ctx, v.Tenant, in.ID); err != nil {
		return hook{}, missing(err)
	}
	return d.show(ctx, v, in)
}

func (d Deps) enable(ctx context.Context, v httpapi.Visitor, in enabling) (enabled, error) {
	_, since, err := d.as(v).Enable(ctx, v.Tenant, in.ID)
	if err != nil {
		return enabled{}, missing(err)
	}
	told := enabled{MissedSince: timestamp.Of(since)}
	if in.Replay {
		if told.Replayed, err = d.sending(v).ReplayFailed(ctx, v.Tenant, in.ID, since); err != nil {
			return enabled{}, err
		}
	}
	told.Webhook, err = d.show(ctx, v, one{ID: in.ID})
	return told, err
}

func (d Deps) simulate(ctx context.Context, v httpapi.Visitor, in simulating) (simulated, error) {
	t, ok := webhook.ParseType(in.Type)
	if !ok {
		return simulated{}, fault.BadRequest("type must be a known event type.").About("type")
	}
	// An empty ID would match every webhook.
	if in.ID == "" {
		return simulated{}, fault.Missing("Webhook not found.")
	}
	id, err := d.sending(v).Simulate(ctx, v.Tenant, in.ID, t)
	if err != nil {
		return simulated{}, missing(err)
	}
	return simulated{EventID: id, DeliveryID: webhook.DeliveryID(id, in.ID)}, nil
}

func (d Deps) replay(ctx context.Context, v httpapi.Visitor, in replaying) (replayed, error) {
	since, from, to, err := in.times()
	if err != nil {
		return replayed{}, err
	}
	var count int
	switch {
	case in.Preview:
		count, err = d.sending(v).CountFailed(ctx, v.Tenant, in.ID, since)
	case since.IsZero():
		count, err = d.sending(v).ReplayRange(ctx, v.Tenant, in.ID, from, to)
	default:
		count, err = d.sending(v).ReplayFailed(ctx, v.Tenant, in.ID, since)
	}
	return replayed{Replayed: count}, missing(err)
}

func (in replaying) times() (since, from, to time.Time, err error) {
	wrong := fault.BadRequest("Send either since, or from and a later to, as RFC 3339 timestamps.")
	if (in.Since == "") == (in.From == "" && in.To == "") {
		return since, from, to, wrong
	}
	for text, at := range map[*string]*time.Time{&in.Since: &since, &in.From: &from, &in.To: &to} {
		if *text == "" {
			continue
		}
		if *at, err = time.Parse(time.RFC3339, *text); err != nil {
			return since, from, to, wrong.Because(err)
		}
	}
	if in.Since == "" && (from.IsZero() || !from.Before(to)) {
		return since, from, to, wrong
	}
	if in.Preview && in.Since == "" {
		return since, from, to, fault.BadRequest("preview requires since.").About("preview")
	}
	return since, from, to, nil
}

func types(context.Context, httpapi.Visitor, nothing) (kindList, error) {
	all := webhook.Catalogue()
	list := kindList{Types: make([]kind, 0, len(all))}
	for _, k := range all {
		list.Types = append(list.Types, kind{
			Type: string(k.Type), Title: k.Title, When: k.When, Default: string(k.Default), Extension: k.Extension,
			Example: k.Example,
		})
	}
	return list, nil
}
