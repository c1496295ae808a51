package main

import (
	"context"
	"errors"
	"flag"
	"reflect"
	"slices"
	"time"

	"recordbridge/shared/manage/deletion"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func organisationCommands() []command {
	return []command{
		{
			name: "organisation create", help: "Creates an organisation, with live mode by default",
			needs: []string{"name"}, declare: createOrganisation,
			flags: "-name NAME [-plan free|paid] [-website URL] [-privacy URL] [-terms URL] [-logo URL] [-accent COLOUR] " +
				"[-radius PIXELS] [-font LIST] [-color-scheme auto|light|dark] [-purpose TEXT] [-purpose-es TEXT] [-email " +
				"ADDRESS ...] [-without-live]",
		},
		{
			name: "organisation list", flags: "[-requests]", declare: listOrganisations,
			help: "Lists all organisations in both modes, or the requests for live mode with similar organisations",
		},
		{
			name: "organisation show", flags: "-org ID", help: "Shows an organisation and its notice addresses",
			needs: []string{"org"}, declare: showOrganisation,
		},
		{
			name: "organisation set", help: "Changes the given settings of an organisation", needs: []string{"org"},
			declare: changeOrganisation,
			flags: "-org ID [-name NAME] [-plan free|paid] [-website URL] [-privacy URL] [-terms URL] [-logo URL] [-accent " +
				"COLOUR] [-radius PIXELS] [-font LIST] [-color-scheme auto|light|dark] [-purpose TEXT] [-purpose-es TEXT] " +
				"[-email ADDRESS ...] [-without website|privacy|terms|logo|accent|radius|font|purpose|purpose-es|emails ...]",
		},
		{
			name: "organisation owner", needs: []string{"org", "email"}, declare: organisationOwner,
			flags: "-org ID -email ADDRESS\n-org ID -email ADDRESS -recover -reason TEXT\n-org ID -email ADDRESS " +
				"-stop-recovery",
			help: "Invites an owner by email, or recovers an owner who has lost every second factor",
		},
		{
			name: "organisation suspend", confirms: true, flags: "-org ID", needs: []string{"org"},
			declare: suspendOrganisation,
			help:    "Disables an organisation's public IDs and keys, in both modes",
		},
		{
			name: "organisation resume", flags: "-org ID", needs: []string{"org"}, declare: resumeOrganisation,
			help: "Reactivates a suspended organisation",
		},
		{
			name: "organisation delete", confirms: true, flags: "-org ID -name NAME\n-org ID -cancel", needs: []string{"org"},
			declare: deleteOrganisation,
			help: "Schedules the deletion of an organisation and all its data in seven days, shows the deletion's status, " +
				"or cancels the deletion before it starts",
		},
		{
			name: "organisation remove", confirms: true, flags: "-org ID", needs: []string{"org"}, declare: removeOrganisation,
			help: "Removes a suspended organisation that owns no data",
		},
	}
}

func createOrganisation(flags *flag.FlagSet) action {
	var made org.Organisation
	flags.StringVar(&made.Name, "name", "", "display `name`")
	flags.StringVar(&made.WebsiteURI, "website", "", "https `URL`")
	flags.StringVar(&made.PrivacyPolicyURI, "privacy", "", "https `URL`")
	flags.StringVar(&made.TermsURI, "terms", "", "https `URL`")
	flags.StringVar(&made.LogoURI, "logo", "", "https `URL`")
	flags.StringVar(&made.Accent, "accent", "", "accent `colour` of the organisation's pages, such as #1a5fb4")
	lookFlags(flags)
	plan := flags.String("plan", string(org.Free), "`free` or paid")
	var emails texts
	flags.Var(&emails, "email", "notice `address`; may be repeated")
	withoutLive := flags.Bool("without-live", false, "create the organisation in test mode only; the organisation can "+
		"request live mode, which you approve")
	return func(ctx context.Context, s session) (any, error) {
		made.LiveAccess = org.LiveGranted
		if *withoutLive {
			made.LiveAccess = org.LiveNone
		}
		made.Plan, made.Emails = org.Plan(*plan), emails
		if err := made.Look.Set(optional(flags, "radius"), optional(flags, "font"),
			optional(flags, "color-scheme")); err != nil {
			return nil, err
		}
		if err := made.Purpose.Set(optional(flags, "purpose"), optional(flags, "purpose-es")); err != nil {
			return nil, err
		}
		stored, err := s.Organisations.Create(ctx, made)
		return map[string]any{
			"id": stored.ID, "name": stored.Name, "plan": stored.Plan,
			"live_access": stored.LiveAccess,
		}, err
	}
}

// organisationOwner invites an owner or recovers an owner's account. It doesn't print the invitation token, which may
// appear only in the email.
func organisationOwner(flags *flag.FlagSet) action {
	email := flags.String("email", "", "owner's `address`, at the organisation's own domain")
	recovers := flags.Bool("recover", false, "start the recovery of an owner who has lost every second factor")
	reason := flags.String("reason", "",
		"for -recover: `text` for the audit log that states how you verified the owner, without names or addresses")
	stop := flags.Bool("stop-recovery", false, "stop a recovery in progress")
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		switch {
		case *recovers && *stop:
			return nil, misused("-recover and -stop-recovery can't be combined")
		case *recovers != (*reason != ""):
			return nil, misused("-recover and -reason must be used together")
		case *stop:
			return map[string]any{"org": tenant.OrgID, "stopped": true}, s.Members.StopRecovery(ctx, tenant, *email)
		case *recovers:
			r, err := s.Members.Recover(ctx, tenant, *email, *reason)
			return map[string]any{"org": tenant.OrgID, "account": r.AccountID, "applies_at": r.AppliesAt}, err
		}
		made, err := s.Members.InviteOwner(ctx, tenant, *email)
		return map[string]any{"invitation": made.ID, "email": made.Email, "expires_at": made.ExpiresAt}, err
	})
}

func listOrganisations(flags *flag.FlagSet) action {
	requests := flags.Bool("requests", false, "list requests for live mode instead")
	return func(ctx context.Context, s session) (any, error) {
		if *requests {
			return liveRequests(ctx, s)
		}
		listed, err := s.Organisations.List(ctx)
		rows := make([]map[string]any, 0, len(listed))
		for _, l := range listed {
			rows = append(rows, map[string]any{
				"id": l.Organisation.ID, "mode": l.Tenant.Mode, "name": l.Organisation.Name,
				"plan": l.Organisation.Plan, "status": l.Organisation.Status, "live_access": l.Organisation.LiveAccess,
			})
		}
		return rows, err
	}
}

func showOrganisation(flags *flag.FlagSet) action {
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		gone, err := s.Deletions.Show(ctx, tenant)
		if err != nil && !errors.Is(err, fault.NotFound) {
			return nil, err
		}
		if gone.Stage == deletion.Done {
			return map[string]any{"id": tenant.OrgID, "deletion": deletionShown(gone)}, nil
		}
		found, failure := s.Organisations.Show(ctx, tenant)
		shown := organisationShown(found)
		if err == nil {
			shown["deletion"] = deletionShown(gone)
		}
		return shown, failure
	})
}

func deletionShown(d deletion.Deletion) map[string]any {
	return map[string]any{
		"stage": d.Stage, "requested_by": d.Actor, "requested_at": d.RequestedAt, "begins_at": d.BeginsAt,
		"finished_at": d.FinishedAt, "counts": d.Counts,
	}
}

func deleteOrganisation(flags *flag.FlagSet) action {
	name := flags.String("name", "", "the organisation's exact `name`, as confirmation")
	cancel := flags.Bool("cancel", false, "cancel the deletion")
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		if *cancel == (*name != "") {
			return nil, misused("set either -name or -cancel")
		}
		if *cancel {
			return map[string]any{"org": tenant.OrgID, "kept": true}, s.Deletions.Cancel(ctx, tenant)
		}
		if gone, err := s.Deletions.Show(ctx, tenant); errors.Is(err, fault.NotFound) || gone.Stage == deletion.Done {
			if err = s.confirmOrganisation(ctx, tenant, "In seven days, this permanently deletes organisation %s (%q), its "+
				"%d credentials, %d webhooks, and all its connections and exports in both modes."); err != nil {
				return nil, err
			}
		}
		d, err := s.Deletions.Request(ctx, tenant, *name)
		return map[string]any{"org": tenant.OrgID, "deletion": deletionShown(d)}, err
	})
}

func organisationShown(o org.Organisation) map[string]any {
	shown := map[string]any{
		"id": o.ID, "name": o.Name, "plan": o.Plan, "status": o.Status, "website_uri": o.WebsiteURI,
		"privacy_policy_uri": o.PrivacyPolicyURI, "terms_uri": o.TermsURI, "logo_uri": o.LogoURI, "accent": o.Accent,
		"radius": o.Look.Radius, "font": o.Look.Font, "color_scheme": o.Look.ColorScheme.String(),
		"purpose": o.Purpose.English, "purpose_es": o.Purpose.Spanish,
		"emails":          append([]string{}, o.Emails...),
		"verified_emails": append([]string{}, o.VerifiedEmails...), "created_at": o.CreatedAt, "live_access": o.LiveAccess,
	}
	review := o.LiveReview
	for name, text := range map[string]string{
		"live_purpose": review.Purpose, "requested_by": review.RequestedBy,
		"reason": review.Reason,
	} {
		if text != "" {
			shown[name] = text
		}
	}
	for name, at := range map[string]time.Time{"requested_at": review.RequestedAt, "decided_at": review.DecidedAt} {
		if !at.IsZero() {
			shown[name] = at
		}
	}
	return shown
}

// lookFlags adds the flags for the appearance of an organisation's pages and for the purpose stated on them.
func lookFlags(flags *flag.FlagSet) {
	_ = flags.String("radius", "", "corner radius in `pixels`, from 0 to 24 (default: 12)")
	_ = flags.String("font", "", "`list` of font names, such as 'Georgia, serif'; fonts must be installed on the device")
	_ = flags.String("color-scheme", "", "`auto`, light or dark (default: auto, which follows the device's preference)")
	_ = flags.String("purpose", "",
		"`text` that tells patients why the organisation collects their records: at most 160 "+
			"characters, in English")
	_ = flags.String("purpose-es", "", "the same `text` in Spanish")
}

func changeOrganisation(flags *flag.FlagSet) action {
	for name, usage := range map[string]string{
		"name": "display `name`", "plan": "`free` or paid", "website": "https `URL`", "privacy": "https `URL`",
		"terms": "https `URL`",
		"logo":  "https `URL`", "accent": "accent `colour` of the organisation's pages, such as #1a5fb4",
	} {
		_ = flags.String(name, "", usage)
	}
	lookFlags(flags)
	var without, addresses texts
	flags.Var(&addresses, "email",
		"new notice `address`, which counts as verified; may be repeated; replaces all addresses")
	flags.Var(&without, "without", "reset this setting: `website`, privacy, terms, logo, accent, radius, font, purpose, "+
		"purpose-es or emails; may be repeated")
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		change := operator.OrganisationChange{
			Name: optional(flags, "name"), Plan: optional(flags, "plan"), Website: optional(flags, "website"),
			Privacy: optional(flags, "privacy"), Terms: optional(flags, "terms"), Logo: optional(flags, "logo"),
			Accent: optional(flags, "accent"), Radius: optional(flags, "radius"), Font: optional(flags, "font"),
			ColorScheme: optional(flags, "color-scheme"),
			PurposeEN:   optional(flags, "purpose"), PurposeES: optional(flags, "purpose-es"),
		}
		noAddresses := slices.Contains(without, "emails")
		if noAddresses && len(addresses) > 0 {
			return nil, misused("-without emails and -email can't be combined")
		}
		if err := reset(&change, without); err != nil {
			return nil, err
		}
		isSame, movesMail := reflect.ValueOf(change).IsZero(), noAddresses || len(addresses) > 0
		if isSame && !movesMail {
			return nil, misused("nothing to change: set -name, -plan, -website, -privacy, -terms, -logo, -accent, -radius, " +
				"-font, -color-scheme, -purpose, -purpose-es, -email or -without")
		}
		if movesMail {
			if err := s.Organisations.SetEmails(ctx, tenant, addresses); err != nil {
				return nil, err
			}
		}
		if isSame {
			stored, err := s.Organisations.Show(ctx, tenant)
			return organisationShown(stored), err
		}
		changed, err := s.Organisations.Change(ctx, tenant, change)
		return organisationShown(changed), err
	})
}

// reset makes the change remove the named settings. The notice addresses are not part of the change.
func reset(change *operator.OrganisationChange, without []string) error {
	for _, name := range without {
		if name == "emails" {
			continue
		}
		field, ok := map[string]**string{
			"website": &change.Website, "privacy": &change.Privacy, "terms": &change.Terms, "logo": &change.Logo,
			"accent": &change.Accent, "radius": &change.Radius, "font": &change.Font,
			"purpose": &change.PurposeEN, "purpose-es": &change.PurposeES,
		}[name]
		if !ok || *field != nil {
			return misused("-without must be website, privacy, terms, logo, accent, radius, font, purpose, " +
				"purpose-es or emails, and can't be combined with the setting's flag")
		}
		*field = new(string)
	}
	return nil
}

// confirmOrganisation asks about a change to an organisation. The question's verbs receive the organisation's ID and
// name, and the numbers of its credentials and webhooks in both modes.
func (s session) confirmOrganisation(ctx context.Context, tenant org.Tenant, question string) error {
	if s.yes {
		return nil
	}
	found, err := s.Organisations.Show(ctx, tenant)
	if err != nil {
		return err
	}
	credentials, webhooks := 0, 0
	for _, one := range found.Tenants() {
		own, err := s.Credentials.List(ctx, one)
		if err != nil {
			return err
		}
		hooks, err := s.Webhooks.List(ctx, one)
		if err != nil {
			return err
		}
		credentials, webhooks = credentials+len(own), webhooks+len(hooks)
	}
	return s.confirm(question, found.ID, found.Name, credentials, webhooks)
}

func suspendOrganisation(flags *flag.FlagSet) action {
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		if err := s.confirmOrganisation(ctx, tenant, "Within 30 seconds, this rejects all requests of organisation %s "+
			"(%q) with its %d credentials and blocks its patients from connecting, in both modes. Events to its %d webhooks "+
			"continue."); err != nil {
			return nil, err
		}
		return map[string]any{"org": tenant.OrgID, "status": org.Inactive}, s.Suspensions.Suspend(ctx, tenant)
	})
}

func resumeOrganisation(flags *flag.FlagSet) action {
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		return map[string]any{"org": tenant.OrgID, "status": org.Active}, s.Suspensions.Resume(ctx, tenant)
	})
}

func removeOrganisation(flags *flag.FlagSet) action {
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		if found, err := s.Organisations.Show(ctx, tenant); err != nil {
			return nil, err
		} else if found.Status == org.Inactive {
			if err := s.confirmOrganisation(ctx, tenant, "This permanently removes organisation %s (%q) if it owns nothing. "+
				"It owns %d credentials and %d webhooks."); err != nil {
				return nil, err
			}
		}
		return map[string]any{"org": tenant.OrgID, "removed": true}, s.Suspensions.Remove(ctx, tenant)
	})
}
