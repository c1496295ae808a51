package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/weburl"
)

// checkURLs reports stored URLs that point to the service itself or that browsers parse differently. The report
// identifies each URL by row and field, because an attacker may control the URL's text.
func checkURLs(ctx context.Context, s session) []finding {
	own, err := wiring.OwnURLs(s.stack.Outputs)
	if err != nil {
		return []finding{amiss("Deploy the stack's current template.", "The service's own URLs are unknown: %v.", err)}
	}
	all, err := s.Organisations.List(ctx)
	if err != nil {
		return []finding{amiss("See docs/operate/runbooks/tables.md.", "Organisations can't be listed: %v.", err)}
	}
	checked := &urlCheck{own: own}
	for _, one := range all {
		checked.organisation(one)
		if err := checked.rows(ctx, s, one.Tenant); err != nil {
			checked.found = append(checked.found, amiss("See docs/operate/runbooks/tables.md.",
				"The URLs of %s in %s mode can't be read: %v.", one.Tenant.OrgID, one.Tenant.Mode, err))
		}
	}
	for _, mode := range []string{"test", "live"} {
		if err := checked.catalogue(ctx, s, mode); err != nil {
			checked.found = append(checked.found, amiss("See docs/operate/runbooks/tables.md.",
				"The catalogue of %s mode can't be read: %v.", mode, err))
		}
	}
	if len(checked.found) == 0 {
		return []finding{fine("None of the %d stored URLs leads to this service.", checked.count)}
	}
	return checked.found
}

type urlCheck struct {
	own   weburl.Own
	count int
	found []finding
}

func (c *urlCheck) web(row, field, text string) {
	if text == "" {
		return
	}
	_, err := c.own.Parse(text)
	c.note(row, field, err)
}

func (c *urlCheck) note(row, field string, err error) {
	c.count++
	if err != nil {
		c.found = append(c.found, amiss("Ask the owner to replace the URL. Until then, the URL is neither shown nor used.",
			"%s: the %s leads to this service, or browsers interpret the URL differently.", row, field))
	}
}

func (c *urlCheck) organisation(one operator.Listed) {
	o := one.Organisation
	if one.Tenant.Mode != org.Live { // both modes share these URLs, so they are checked only once
		return
	}
	row := "Organisation " + one.Tenant.OrgID
	c.web(row, "website", o.WebsiteURI)
	c.web(row, "privacy policy", o.PrivacyPolicyURI)
	c.web(row, "terms", o.TermsURI)
	c.web(row, "logo", o.LogoURI)
}

func (c *urlCheck) rows(ctx context.Context, s session, tenant org.Tenant) error {
	credentials, err := s.Credentials.List(ctx, tenant)
	if err != nil {
		return fmt.Errorf("list credentials: %w", err)
	}
	for _, one := range credentials {
		row := fmt.Sprintf("Credential %s of %s in %s mode", one.ID, tenant.OrgID, tenant.Mode)
		for _, uri := range one.RedirectURIs {
			_, wrong := org.NewRedirectURI(c.own, tenant.Mode, uri)
			c.note(row, "redirect URI", wrong)
		}
		for _, origin := range one.AllowedOrigins {
			_, wrong := org.NewOrigin(c.own, origin)
			c.note(row, "allowed origin", wrong)
		}
	}
	webhooks, err := s.Webhooks.List(ctx, tenant)
	if err != nil {
		return fmt.Errorf("list webhooks: %w", err)
	}
	for _, one := range webhooks {
		c.web(fmt.Sprintf("Webhook %s of %s in %s mode", one.ID, tenant.OrgID, tenant.Mode), "URL", one.URL)
	}
	return nil
}

// catalogue checks the URLs in a mode's published catalogue.
func (c *urlCheck) catalogue(ctx context.Context, s session, mode string) error {
	pointer, err := store.Catalog{
		DB:    store.NewClient(s.stack.Config),
		Table: s.stack.Outputs["CatalogTable"],
	}.Pointer(ctx, mode)
	if err != nil || pointer.Live == "" {
		return err
	}
	files := blob.Bucket{Client: s3.NewFromConfig(s.stack.Config), Name: s.stack.Outputs["CatalogBucket"]}
	published, err := snapshot.Snapshots{Files: files}.Catalog(ctx, mode, pointer.Live)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(published.Brands)) {
		b := published.Brands[id]
		c.web("Brand "+id, "website", b.BrandWebsite)
		c.web("Brand "+id, "logo", b.LogoURI)
		c.web("Brand "+id, "logo licence", b.LogoLicense)
	}
	for _, id := range slices.Sorted(maps.Keys(published.Portals)) {
		p := published.Portals[id]
		c.web("Portal "+id, "website", p.PortalWebsite)
		c.web("Portal "+id, "logo", p.LogoURI)
	}
	return nil
}
