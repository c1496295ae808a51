package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"recordbridge/infra/cleanup"
	"recordbridge/infra/local/runfile"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// returnURL is the redirect URI for the organisation's patients. The URL is never requested, because the check acts as
// the browser and does not follow the redirect.
const returnURL = "https://smoke.example/return"

// arrive creates an organisation with a test-mode credential unless the options contain a credential.
func (c *check) arrive(ctx context.Context) (string, error) {
	if c.Rules != nil && c.EndpointID == "" {
		var err error
		if c.EndpointID, err = cleanup.Sandbox(ctx, c.Rules, c.BaseURL); err != nil {
			return "", err
		}
	}
	if c.Credential.PublicID != "" {
		if c.InboxURL != "" && c.Credential.WebhookSecret != "" {
			c.Credential.WebhookURL = c.InboxURL
		}
		return "the credential's", nil
	}
	made, err := c.Rules.Organisations.Create(ctx, org.Organisation{Name: "Smoke test", Plan: org.Free})
	if err != nil {
		return "", err
	}
	c.isMade, c.Credential = true, runfile.Organisation{
		ID: made.ID, Name: made.Name, Mode: string(org.Test),
		RedirectURI: returnURL,
	}
	tenant := org.Tenant{Mode: org.Test, OrgID: made.ID}
	credential, key, err := c.Rules.Credentials.Create(ctx,
		operator.CredentialDraft{Tenant: tenant, Redirects: []string{returnURL}})
	if err != nil {
		return "", err
	}
	c.Credential.PublicID, c.Credential.PrivateKey = credential.PublicID(), key.Reveal()
	said := "made " + made.ID
	if c.InboxURL == "" {
		return said, nil
	}
	address := c.InboxURL + "/smoke-" + ids.Random()
	_, signing, err := c.Rules.Webhooks.Create(ctx, webhook.Draft{Tenant: tenant, URL: address})
	if err != nil {
		return "", err
	}
	c.Credential.WebhookURL, c.Credential.WebhookSecret = address, signing.Reveal()
	return said + " with a webhook", nil
}

// clean deletes what the run created and records anything that remains.
func (c *check) clean(ctx context.Context) {
	if c.connectionID == "" && !c.isMade {
		return
	}
	c.take(ctx, step{name: "clean-up", look: c.leave})
}

func (c *check) leave(ctx context.Context) (string, error) {
	var failed []error
	var removed []string
	if c.connectionID != "" {
		failed = append(failed, cleanup.Disconnect(ctx, c.HTTP, c.BaseURL, c.Credential, c.connectionID))
		removed = append(removed, "the connection's tokens and files")
		c.left = append(c.left, "connection "+c.connectionID+", revoked; its record is kept")
	}
	if c.isMade {
		kept, err := cleanup.Clear(ctx, c.Rules, c.HTTP, c.BaseURL, []runfile.Organisation{c.Credential})
		failed, removed = append(failed, err), append(removed, "the credential", "the webhook")
		switch {
		case err != nil:
			c.left = append(c.left, "organisation "+c.Credential.ID)
		case kept != "":
			c.left = append(c.left, fmt.Sprintf("organisation %s, suspended (%s)", c.Credential.ID, kept))
		default:
			removed = append(removed, "the organisation")
		}
	}
	return "removed " + strings.Join(removed, ", "), errors.Join(failed...)
}
