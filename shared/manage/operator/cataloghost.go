package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// HostChoice selects hosts that have servers waiting for a decision. If only Source is set, every host that the source
// names is selected. If both fields are set, only Host is selected, and only for that source.
type HostChoice struct{ Host, Source string }

// Has reports whether a waiting server is at one of the chosen hosts.
func (c HostChoice) Has(w compose.Wait) bool {
	return (c.Host == "" || c.Host == w.Host) && (c.Source == "" || c.Source == w.Source)
}

// subject returns the host choice as text for the audit log.
func (c HostChoice) subject(mode string) string {
	return strings.Join(strings.Fields(mode+" "+c.Host+" "+c.Source), " ")
}

// AllowHosts accepts the servers waiting at the chosen hosts, but only for the brands and platforms for which each is
// waiting. Servers that are added to a list later await another decision. AllowHosts returns the hosts. The error is
// fault.NotFound if no server is waiting at the chosen hosts, or fault.Invalid.
func (o CatalogOverrides) AllowHosts(ctx context.Context, mode string, choice HostChoice) ([]string, error) {
	return o.decide(ctx, mode, choice, "catalog.hosts_allowed", func(w compose.Wait) ledger.Override {
		if w.Why == compose.OfPlatform {
			return ledger.Override{Kind: ledger.Platform, ID: w.Host, Value: w.Platform}
		}
		return ledger.Override{Kind: ledger.Portal, ID: w.BrandID, Value: w.Host}
	})
}

// AllowEveryBrand allows the servers of all current and future brands at a host, such as the host of a vendor with many
// institutions. The error is fault.Invalid or fault.Conflict.
func (o CatalogOverrides) AllowEveryBrand(ctx context.Context, mode, host string) error {
	if err := o.put(ctx, mode, host, ledger.Override{
		Kind: ledger.Portal, ID: ledger.EveryBrand,
		Value: host,
	}); err != nil {
		return err
	}
	return o.by.record(ctx, org.Tenant{}, "catalog.host_allowed", mode+" "+host)
}

// RefuseHosts excludes the chosen hosts from the catalogue. Their servers no longer await a decision, and the next
// publication removes those that were already published. A host that has no waiting servers can also be refused.
// RefuseHosts returns the hosts. The error is fault.Invalid, fault.NotFound or fault.Conflict.
func (o CatalogOverrides) RefuseHosts(ctx context.Context, mode string, choice HostChoice) ([]string, error) {
	if choice.Host != "" && choice.Source == "" {
		if err := o.put(ctx, mode, choice.Host, ledger.Override{Kind: ledger.Refuse, ID: choice.Host}); err != nil {
			return nil, err
		}
		return []string{choice.Host}, o.by.record(ctx, org.Tenant{}, "catalog.hosts_refused", choice.subject(mode))
	}
	return o.decide(ctx, mode, choice, "catalog.hosts_refused", func(w compose.Wait) ledger.Override {
		return ledger.Override{Kind: ledger.Refuse, ID: w.Host}
	})
}

// ForgetHost removes all decisions about a host. Servers published because of these decisions stay in the catalogue.
// The error is fault.Invalid, or fault.NotFound if there are no decisions.
func (o CatalogOverrides) ForgetHost(ctx context.Context, mode, host string) error {
	if err := checkMode(mode); err != nil {
		return err
	}
	said, err := o.rows.Overrides(ctx, mode)
	if err != nil {
		return fmt.Errorf("read overrides: %w", err)
	}
	said = slices.DeleteFunc(said, func(s ledger.Override) bool { return hostOf(s) != host })
	if len(said) == 0 {
		return fault.Missing("This host has no operator decision. To list the decisions, run catalog " +
			"report.").About("host")
	}
	for _, one := range said {
		if err := o.drop(ctx, mode, one); err != nil {
			return err
		}
	}
	return o.by.record(ctx, org.Tenant{}, "catalog.host_forgotten", mode+" "+host)
}

// hostOf returns the host to which an override applies, or "" if the override applies to a brand.
func hostOf(o ledger.Override) string {
	switch o.Kind {
	case ledger.Portal:
		return o.Value
	case ledger.Platform, ledger.Refuse:
		return o.ID
	case ledger.Hide, ledger.Show, ledger.Merge, ledger.Alias, ledger.Name:
	}
	return ""
}

// decide stores an override for each server that awaits a decision at the chosen hosts.
func (o CatalogOverrides) decide(
	ctx context.Context, mode string, choice HostChoice, action string, word func(compose.Wait) ledger.Override,
) ([]string, error) {
	out, err := o.catalog.Preview(ctx, mode)
	if err != nil {
		return nil, err
	}
	var hosts []string
	done := map[ledger.Override]bool{}
	for _, w := range out.Composed.Waiting {
		said := word(w)
		if !choice.Has(w) || done[said] {
			continue
		}
		done[said] = true
		if err := o.rows.PutOverride(ctx, mode, said); err != nil && !errors.Is(err, fault.Conflict) {
			return hosts, fmt.Errorf("save override: %w", err)
		}
		if !slices.Contains(hosts, w.Host) {
			hosts = append(hosts, w.Host)
		}
	}
	if len(hosts) == 0 {
		about := "host"
		if choice.Source != "" {
			about = "source"
		}
		return nil, fault.Missing("Nothing is waiting at this host. To list the hosts with changes, run catalog " +
			"diff.").About(about)
	}
	return hosts, o.by.record(ctx, org.Tenant{}, action, choice.subject(mode))
}

// put stores an operator's decision about a single host.
func (o CatalogOverrides) put(ctx context.Context, mode, host string, said ledger.Override) error {
	if err := checkMode(mode); err != nil {
		return err
	}
	if address := "https://" + strings.TrimPrefix(host, "http://"); host == "" ||
		strings.TrimPrefix(host, "http://") != catalog.Host(address) {
		return fault.BadRequest("Write the host as catalog diff shows it, without a path.").About("host")
	}
	err := o.rows.PutOverride(ctx, mode, said)
	if errors.Is(err, fault.Conflict) {
		return refused("This decision already exists. It takes effect with the next publication: catalog publish.")
	}
	if err != nil {
		return fmt.Errorf("save override: %w", err)
	}
	return nil
}
