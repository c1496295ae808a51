package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// seeker reports whether a tenant has what a command line names. The seeker determines the mode if -mode is omitted.
type seeker func(ctx context.Context, s session, tenant org.Tenant) (bool, error)

// organisation returns the ID of the organisation that text names: by its ID, by its name, or by the first letters of
// its name. Letter case doesn't matter.
func (s session) organisation(ctx context.Context, text string) (string, error) {
	if id, ok := ids.ParseUUID(text); ok {
		return id, nil
	}
	listed, err := s.Organisations.List(ctx)
	if err != nil {
		return "", err
	}
	exact, begun := map[string]string{}, map[string]string{}
	for _, l := range listed {
		id, name := l.Organisation.ID, l.Organisation.Name
		if strings.EqualFold(name, text) {
			exact[id] = name
		}
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(text)) {
			begun[id] = name
		}
	}
	if len(exact) > 0 {
		begun = exact
	}
	candidates := make([]string, 0, len(begun))
	for _, id := range slices.Sorted(maps.Keys(begun)) {
		candidates = append(candidates, fmt.Sprintf("%s (%q)", id, begun[id]))
	}
	switch len(candidates) {
	case 0:
		return "", misused("-org: no organisation has this ID or name; see organisation list")
	case 1:
	default:
		return "", misused("-org: several organisations have this name; pass the ID of one: %s",
			strings.Join(candidates, ", "))
	}
	for id, name := range begun {
		fmt.Fprintf(s.said, "ctl: organisation %s (%s)\n", plain(name), id)
		return id, nil
	}
	return "", nil
}

// tenant returns the tenant that -org and -mode name. If mode is empty, tenant uses the only mode in which seek finds
// something.
func (s session) tenant(ctx context.Context, organisation, mode string, seek seeker) (org.Tenant, error) {
	if mode != "" {
		if err := checkMode(mode); err != nil {
			return org.Tenant{}, err
		}
	}
	id, err := s.organisation(ctx, organisation)
	if err != nil {
		return org.Tenant{}, err
	}
	if mode != "" {
		return org.Tenant{Mode: org.Mode(mode), OrgID: id}, nil
	}
	in := func(seek seeker) func(org.Mode) (bool, error) {
		return func(m org.Mode) (bool, error) { return seek(ctx, s, org.Tenant{Mode: m, OrgID: id}) }
	}
	found, err := s.onlyMode(in(seek), in(seekAccess))
	return org.Tenant{Mode: found, OrgID: id}, err
}

// onlyMode returns the only mode for which one of the questions is true, asking the next question if none is. If both
// modes qualify, onlyMode returns a usageError that names them.
func (s session) onlyMode(questions ...func(org.Mode) (bool, error)) (org.Mode, error) {
	for _, has := range questions {
		var found []org.Mode
		for _, m := range []org.Mode{org.Test, org.Live} {
			ok, err := has(m)
			if err != nil {
				return "", err
			}
			if ok {
				found = append(found, m)
			}
		}
		switch len(found) {
		case 1:
			fmt.Fprintf(s.said, "ctl: using %s mode, the only mode that applies; to choose one, pass -mode\n", found[0])
			return found[0], nil
		case 2:
			return "", misused("-mode is required, because both modes apply: pass -mode test or -mode live")
		}
	}
	return "", misused("-mode is required: pass -mode test or -mode live")
}

// isFound interprets the error of a lookup.
func isFound(err error) (bool, error) {
	if errors.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// seekAccess finds the modes in which an organisation may have objects: test mode, and live mode if it was granted.
func seekAccess(ctx context.Context, s session, tenant org.Tenant) (bool, error) {
	found, err := s.Organisations.Show(ctx, tenant)
	if err != nil {
		return false, err
	}
	return found.CheckMode(tenant.Mode) == nil, nil
}

func seekCredentials(ctx context.Context, s session, tenant org.Tenant) (bool, error) {
	all, err := s.Credentials.List(ctx, tenant)
	ok, err := isFound(err)
	return ok && len(all) > 0, err
}

// seekWebhook finds the webhook with the given ID or, if the ID is empty, any webhook.
func seekWebhook(id *string) seeker {
	return func(ctx context.Context, s session, tenant org.Tenant) (bool, error) {
		if *id != "" {
			_, err := s.Webhooks.Show(ctx, tenant, *id)
			return isFound(err)
		}
		all, err := s.Webhooks.List(ctx, tenant)
		ok, err := isFound(err)
		return ok && len(all) > 0, err
	}
}

// seekDelivery finds a delivery of the delivery log or, if the delivery's ID is empty, a webhook.
func seekDelivery(delivery, webhook *string) seeker {
	return func(ctx context.Context, s session, tenant org.Tenant) (bool, error) {
		if *delivery == "" {
			return seekWebhook(webhook)(ctx, s, tenant)
		}
		page, err := s.Log.Search(ctx, tenant, deliverylog.Query{ID: *delivery, Limit: 1})
		ok, err := isFound(err)
		return ok && len(page.Entries) > 0, err
	}
}

// seekConnection finds the connection with the given ID or, if the ID is empty, any connection.
func seekConnection(id *string) seeker {
	return func(ctx context.Context, s session, tenant org.Tenant) (bool, error) {
		if *id != "" {
			_, err := s.Connections.Show(ctx, tenant, *id)
			return isFound(err)
		}
		page, err := s.Connections.List(ctx, tenant, operator.ConnectionQuery{Paging: operator.Paging{Limit: 1}})
		ok, err := isFound(err)
		return ok && len(page.Connections) > 0, err
	}
}

// seekExport finds the export with the given ID or, if the ID is empty, any export.
func seekExport(id *string) seeker {
	return func(ctx context.Context, s session, tenant org.Tenant) (bool, error) {
		if *id != "" {
			_, err := s.Exports.Show(ctx, tenant, *id)
			return isFound(err)
		}
		page, err := s.Exports.List(ctx, tenant, operator.ExportQuery{Paging: operator.Paging{Limit: 1}})
		ok, err := isFound(err)
		return ok && len(page.Exports) > 0, err
	}
}

// seekInquiry finds the inquiry with the given ID or, if the ID is empty, any inquiry.
func seekInquiry(id *string) seeker {
	return func(ctx context.Context, s session, tenant org.Tenant) (bool, error) {
		if *id != "" {
			_, err := s.Inquiries.Show(ctx, tenant, *id)
			return isFound(err)
		}
		page, err := s.Inquiries.List(ctx, tenant, operator.InquiryQuery{Paging: operator.Paging{Limit: 1}})
		ok, err := isFound(err)
		return ok && len(page.Inquiries) > 0, err
	}
}

// modeFlag adds the flag that selects the catalogue's mode. Without the flag, the returned function uses the only mode
// that has sources or a published catalogue.
func modeFlag(flags *flag.FlagSet) func(context.Context, session) (string, error) {
	mode := flags.String("mode", "", "`test` or live (default: the only mode that has a catalogue)")
	return func(ctx context.Context, s session) (string, error) {
		if *mode != "" {
			return *mode, checkMode(*mode)
		}
		found, err := s.onlyMode(func(m org.Mode) (bool, error) {
			sources, err := s.CatalogSources.List(ctx, string(m))
			if err != nil || len(sources) > 0 {
				return len(sources) > 0, err
			}
			report, err := s.Catalog.Report(ctx, string(m))
			return report.Pointer.Live != "", err
		})
		return string(found), err
	}
}

// endpointMode returns a question for onlyMode: whether the endpoint is in the mode. The endpoint is identified by its
// ID or, if the ID is empty, by its FHIR base.
func (s session) endpointMode(ctx context.Context, id, base string) func(org.Mode) (bool, error) {
	return func(m org.Mode) (bool, error) {
		at := id
		if at == "" && base != "" {
			var err error
			if at, err = operator.EndpointID(string(m), base); err != nil {
				return false, nil //nolint:nilerr // the command reports the invalid URL itself
			}
		}
		if at == "" {
			return false, nil
		}
		found, err := s.Endpoints.Show(ctx, at)
		if id != "" && err != nil {
			return false, err
		}
		ok, err := isFound(err)
		return ok && found.Mode == string(m), err
	}
}

// plain replaces characters of stored text that could control a terminal.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
