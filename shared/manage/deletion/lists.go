package deletion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/manage/audit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func order() []Stage {
	return []Stage{
		Waiting, Stopping, Credentials, Webhooks, Disconnecting, Draining, Connections, Exports, Deliveries, Events,
		Inquiries, Counters, Files,
		Invitations, Domains, Members, Looking, Done,
	}
}

// next advances a deletion to its next stage.
func next(d *Deletion) {
	all := order()
	d.Stage = all[slices.Index(all, d.Stage)+1]
	d.Mode, d.At, d.Held, d.Found = "", "", nil, false
}

// ofOrganisation reports whether the rows removed in a stage belong to both modes.
func (s Stage) ofOrganisation() bool { return s == Invitations || s == Members }

// isIndexed reports whether a stage lists its rows through an eventually consistent index.
func (s Stage) isIndexed() bool {
	return slices.Contains([]Stage{Connections, Exports, Deliveries, Events, Inquiries}, s)
}

// list removes a stage's rows, one mode after the other, until a pass finds no rows. One step counts a page of rows and
// records the count, and the next step removes the rows, so a crash can't falsify the count.
func (w Worker) list(ctx context.Context, d *Deletion) (time.Duration, error) {
	all := tenants(d.OrgID)
	at := max(0, slices.IndexFunc(all, func(t org.Tenant) bool { return t.Mode == d.Mode }))
	if len(d.Held) > 0 {
		for _, place := range d.Held {
			if err := w.end(ctx, d.Stage, all[at], place); err != nil {
				return 0, err
			}
		}
		d.Held = nil
		return 0, nil
	}
	places, err := w.Store.Places(ctx, d.Stage, all[at], d.At, page)
	if err != nil {
		return 0, fmt.Errorf("list rows: %w", err)
	}
	if len(places) > 0 {
		d.Held, d.At, d.Found = places, places[len(places)-1], true
		if count := d.Counts.of(d.Stage); count != nil {
			*count += int64(len(places))
		}
		return 0, nil
	}
	if d.Found && d.Stage != Disconnecting {
		d.At, d.Found = "", false
		if d.Stage.isIndexed() {
			return indexTime, nil
		}
		return 0, nil
	}
	if at+1 < len(all) && !d.Stage.ofOrganisation() {
		d.Mode, d.At, d.Found = all[at+1].Mode, "", false
		return 0, nil
	}
	next(d)
	return 0, nil
}

// of returns a pointer to a stage's row count, or nil if the stage does not count rows.
func (c *Counts) of(s Stage) *int64 {
	switch s {
	case Credentials:
		return &c.Credentials
	case Webhooks:
		return &c.Webhooks
	case Connections:
		return &c.Connections
	case Exports:
		return &c.Exports
	case Deliveries:
		return &c.Deliveries
	case Events:
		return &c.Events
	case Inquiries:
		return &c.Inquiries
	case Members:
		return &c.Members
	case Invitations:
		return &c.Invitations
	case Waiting, Stopping, Disconnecting, Draining, Counters, Files, Domains, Looking, Done, Cancelled:
	}
	return nil
}

// end removes the row with the given key. A connection is disconnected first, because the patient may have reconnected.
func (w Worker) end(ctx context.Context, stage Stage, tenant org.Tenant, place string) error {
	if stage == Disconnecting || stage == Connections {
		_, id, _ := strings.Cut(place, "#")
		if _, err := w.Disconnector.Disconnect(ctx, tenant, id); err != nil && !errors.Is(err, fault.NotFound) {
			return fmt.Errorf("disconnect: %w", err)
		}
		if stage == Disconnecting {
			return nil
		}
	}
	if err := w.Store.Remove(ctx, stage, tenant, place, w.Now()); err != nil {
		return fmt.Errorf("remove row: %w", err)
	}
	return nil
}

// files removes the organisation's stored objects. The worker counts the objects in an earlier step.
func (w Worker) files(ctx context.Context, d *Deletion) error {
	left := int64(0)
	for _, tenant := range tenants(d.OrgID) {
		for _, objects := range []Objects{w.Files, w.Records} {
			keys, err := objects.List(ctx, string(tenant.Mode)+"/"+d.OrgID+"/")
			if err != nil {
				return fmt.Errorf("list files: %w", err)
			}
			left += int64(len(keys))
			for _, key := range keys {
				if !d.Found || w.steps().IsLate(ctx) {
					break
				}
				if err := objects.Delete(ctx, key); err != nil {
					return fmt.Errorf("delete file: %w", err)
				}
			}
		}
	}
	switch {
	case left == 0:
		next(d)
	case !d.Found:
		d.Counts.Files, d.Found = d.Counts.Files+left, true
	}
	return nil
}

// domains releases the email domains that the organisation has claimed. The worker counts the domains in an earlier
// step.
func (w Worker) domains(ctx context.Context, d *Deletion) error {
	if d.Found {
		for _, domain := range d.Claims {
			if err := w.Store.ReleaseDomain(ctx, domain, d.OrgID); err != nil {
				return fmt.Errorf("release domain: %w", err)
			}
		}
		next(d)
		return nil
	}
	var held []string
	for _, domain := range d.Claims {
		holder, err := w.Store.Domain(ctx, domain)
		if err != nil && !errors.Is(err, fault.NotFound) {
			return fmt.Errorf("read mail domain: %w", err)
		}
		if err == nil && holder == d.OrgID {
			held = append(held, domain)
		}
	}
	d.Claims, d.Found = held, true
	d.Counts.Domains += int64(len(held))
	return nil
}

// look restarts the deletion if any row remains, and otherwise writes the audit row and removes the organisation
// itself.
func (w Worker) look(ctx context.Context, d *Deletion) error {
	for _, tenant := range tenants(d.OrgID) {
		for _, stage := range []Stage{
			Credentials, Webhooks, Connections, Exports, Deliveries, Events, Inquiries,
			Invitations, Members,
		} {
			places, err := w.Store.Places(ctx, stage, tenant, "", 1)
			if err != nil {
				return fmt.Errorf("look for rows: %w", err)
			}
			if len(places) > 0 {
				d.Stage = Stopping
				return nil
			}
		}
	}
	if err := w.prove(ctx, *d); err != nil {
		return err
	}
	o, err := w.Store.Organisation(ctx, auditTenant(d.OrgID))
	if err != nil && !errors.Is(err, fault.NotFound) {
		return fmt.Errorf("read organisation: %w", err)
	}
	if err == nil {
		if err := w.Store.ForgetOrganisation(ctx, o); err != nil {
			return fmt.Errorf("forget organisation: %w", err)
		}
	}
	next(d)
	d.FinishedAt, d.DueAt, d.Claims = w.Now(), time.Time{}, nil
	return nil
}

// prove writes the audit row for the deletion exactly once.
func (w Worker) prove(ctx context.Context, d Deletion) error {
	isThere, err := w.Audit.Has(ctx, d.OrgID, d.ID(), d.RequestedAt)
	if err != nil || isThere {
		return err
	}
	c := d.Counts
	target := fmt.Sprintf("%s credentials=%d webhooks=%d connections=%d exports=%d files=%d events=%d deliveries=%d "+
		"inquiries=%d members=%d invitations=%d domains=%d",
		d.OrgID, c.Credentials, c.Webhooks, c.Connections, c.Exports, c.Files, c.Events, c.Deliveries, c.Inquiries, c.Members,
		c.Invitations, c.Domains)
	if err := w.Audit.Append(ctx, audit.Row{
		At: w.Now(), ID: d.ID(), Tenant: auditTenant(d.OrgID), Actor: "eraser", Action: "organisation.deleted",
		Target: target,
	}); err != nil {
		return fmt.Errorf("write audit row: %w", err)
	}
	return nil
}
