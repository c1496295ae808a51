package main

import (
	"context"
	"errors"
	"flag"
	"reflect"
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
		{name: "organisation list", help: "Lists all organisations in both modes", declare: listOrganisations},
		{
			name: "organisation show", flags: "-org ID", help: "Shows an organisation and its notice addresses",
			needs: []string{"org"}, declare: showOrganisation,
		},
		{
			name: "organisation set", help: "Changes the given settings of an organisation", needs: []string{"org"},
			declare: changeOrganisation,
			flags: "-org ID [-name NAME] [-plan free|paid] [-website URL] [-privacy URL] [-terms URL] [-logo URL] [-accent " +
				"COLOUR] [-radius PIXELS] [-font LIST] [-color-scheme auto|light|dark] [-purpose TEXT] [-purpose-es TEXT] " +
				"[-without website|privacy|terms|logo|accent|radius|font|purpose|purpose-es ...]",
		},
		{
			name: "organisation emails", flags: "-org ID [-email ADDRESS ... | -none]", needs: []string{"org"}, declare: emails,
			help: "Shows, replaces or removes an organisation's notice addresses",
		},
		{
			name: "organisation owner", flags: "-org ID -email ADDRESS", needs: []string{"org"}, declare: inviteOwner,
			help: "Invites an owner by email",
		},
		{
			name: "organisation recover", flags: "-org ID -email ADDRESS -reason TEXT\n-org ID -email ADDRESS -stop",
			needs: []string{"org", "email"}, declare: recoverOwner,
			help: "Starts or stops the recovery of an owner who has lost every second factor",
		},
		{
			name: "organisation suspend", flags: "-org ID", needs: []string{"org"}, declare: suspendOrganisation,
			help: "Disables an organisation's public IDs and keys, in both modes",
		},
		{
			name: "organisation resume", flags: "-org ID", needs: []string{"org"}, declare: resumeOrganisation,
			help: "Reactivates a suspended organisation",
		},
		{
			name: "organisation delete", flags: "-org ID -name NAME", needs: []string{"org", "name"},
			declare: deleteOrganisation,
			help: "Schedules the deletion of an organisation and all its data in seven days, or shows the " +
				"deletion's status",
		},
		{
			name: "organisation keep", flags: "-org ID", needs: []string{"org"}, declare: keepOrganisation,
			help: "Cancels an organisation's deletion before it starts",
		},
		{
			name: "organisation remove", flags: "-org ID", needs: []string{"org"}, declare: removeOrganisation,
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

// inviteOwner invites an owner by email. It doesn't print the invitation token, which may appear only in the email.
func inviteOwner(flags *flag.FlagSet) action {
	email := flags.String("email", "", "owner's `address`, at the organisation's own domain")
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		made, err := s.Members.InviteOwner(ctx, tenant, *email)
		return map[string]any{"invitation": made.ID, "email": made.Email, "expires_at": made.ExpiresAt}, err
	})
}

func recoverOwner(flags *flag.FlagSet) action {
	email := flags.String("email", "", "`address` of the owner's account")
	reason := flags.String("reason", "",
		"`text` for the audit log that states how you verified the owner, without names or addresses")
	stop := flags.Bool("stop", false, "stop a recovery in progress")
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		if *stop == (*reason != "") {
			return nil, misused("set either -reason or -stop")
		}
		if *stop {
			return map[string]any{"org": tenant.OrgID, "stopped": true}, s.Members.StopRecovery(ctx, tenant, *email)
		}
		r, err := s.Members.Recover(ctx, tenant, *email, *reason)
		return map[string]any{"org": tenant.OrgID, "account": r.AccountID, "applies_at": r.AppliesAt}, err
	})
}

func listOrganisations(*flag.FlagSet) action {
	return func(ctx context.Context, s session) (any, error) {
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
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		d, err := s.Deletions.Request(ctx, tenant, *name)
		return map[string]any{"org": tenant.OrgID, "deletion": deletionShown(d)}, err
	})
}

func keepOrganisation(flags *flag.FlagSet) action {
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		return map[string]any{"org": tenant.OrgID, "kept": true}, s.Deletions.Cancel(ctx, tenant)
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
	_ = flags.String("purpose", "", "`text` that tells patients why the organisation collects their records: at most 160 "+
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
	var without texts
	flags.Var(&without, "without", "reset this setting: `website`, privacy, terms, logo, accent, radius, font, purpose "+
		"or purpose-es; may be repeated")
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		change := operator.OrganisationChange{
			Name: optional(flags, "name"), Plan: optional(flags, "plan"), Website: optional(flags, "website"),
			Privacy: optional(flags, "privacy"), Terms: optional(flags, "terms"), Logo: optional(flags, "logo"),
			Accent: optional(flags, "accent"), Radius: optional(flags, "radius"), Font: optional(flags, "font"),
			ColorScheme: optional(flags, "color-scheme"),
			PurposeEN:   optional(flags, "purpose"), PurposeES: optional(flags, "purpose-es"),
		}
		for _, name := range without {
			field, ok := map[string]**string{
				"website": &change.Website, "privacy": &change.Privacy, "terms": &change.Terms, "logo": &change.Logo,
				"accent": &change.Accent, "radius": &change.Radius, "font": &change.Font,
				"purpose": &change.PurposeEN, "purpose-es": &change.PurposeES,
			}[name]
			if !ok || *field != nil {
				return nil, misused("-without must be website, privacy, terms, logo, accent, radius, font, purpose or " +
					"purpose-es, and can't be combined with the setting's flag")
			}
			*field = new(string)
		}
		if reflect.ValueOf(change).IsZero() {
			return nil, misused("nothing to change: set -name, -plan, -website, -privacy, -terms, -logo, -accent, -radius, " +
				"-font, -color-scheme, -purpose, -purpose-es or -without")
		}
		changed, err := s.Organisations.Change(ctx, tenant, change)
		return organisationShown(changed), err
	})
}

// emails shows or changes the email addresses that receive an organisation's notices. Without flags, emails changes
// nothing.
func emails(flags *flag.FlagSet) action {
	var named texts
	flags.Var(&named, "email", "new notice `address`; may be repeated (default: show the current addresses)")
	none := flags.Bool("none", false, "remove all notice addresses")
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		if *none && len(named) > 0 {
			return nil, misused("-none and -email can't be combined")
		}
		if *none || len(named) > 0 {
			if err := s.Organisations.SetEmails(ctx, tenant, named); err != nil {
				return nil, err
			}
		}
		stored, err := s.Organisations.Show(ctx, tenant)
		return map[string]any{
			"org": tenant.OrgID, "emails": append([]string{}, stored.Emails...),
			"verified_emails": append([]string{}, stored.VerifiedEmails...),
		}, err
	})
}

func suspendOrganisation(flags *flag.FlagSet) action {
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
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
		return map[string]any{"org": tenant.OrgID, "removed": true}, s.Suspensions.Remove(ctx, tenant)
	})
}
