package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"recordbridge/infra/demo/job"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/sandbox/persona"
)

// connect checks that a patient is redirected to the portal, with everything that SMART App Launch and RFC 7636
// require, and bound to the browser.
func (c *check) connect(ctx context.Context) (string, error) {
	if c.EndpointID == "" {
		return "no endpoint is known: name one of test mode", errNotChecked
	}
	got, err := c.send(ctx, request{method: http.MethodGet, path: "/bridge/connect", query: url.Values{
		"public_id": {c.Credential.PublicID}, "endpoint_id": {c.EndpointID}, "redirect_uri": {c.Credential.RedirectURI},
	}})
	if err != nil {
		return "", err
	}
	portal, err := url.Parse(got.Header.Get("Location"))
	if got.Status != http.StatusFound || err != nil {
		return "", fmt.Errorf("GET /bridge/connect answered %d (x-request-id %s)", got.Status, got.Header.Get("X-Request-Id"))
	}
	query := portal.Query()
	if failed := query.Get("error"); failed != "" {
		return "", fmt.Errorf("%s: %s", failed, query.Get("error_description"))
	}
	for name, want := range map[string]string{"response_type": "code", "code_challenge_method": "S256"} {
		if query.Get(name) != want {
			return "", fmt.Errorf("the portal is sent %s=%q, want %q", name, query.Get(name), want)
		}
	}
	if query.Get("state") == "" || !strings.HasPrefix(query.Get("redirect_uri"), c.BaseURL+"/bridge/callback") {
		return "", fmt.Errorf("the portal is told to return to %q", query.Get("redirect_uri"))
	}
	if err := bound(got.Header, strings.HasPrefix(c.BaseURL, "https://")); err != nil {
		return "", err
	}
	c.left = append(c.left, "a sign-in that nobody ends, which is forgotten within an hour")
	c.portal = portal
	return "leads to the portal at " + portal.Host + portal.Path, nil
}

// bound checks that the browser gets a cookie that scripts can't read, that other sites can't send, and that is not
// sent over plain connections.
func bound(header http.Header, isSecure bool) error {
	cookies := (&http.Response{Header: header}).Cookies()
	for _, cookie := range cookies {
		if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || isSecure && !cookie.Secure {
			return fmt.Errorf("the cookie %s is not HttpOnly, SameSite=Lax and Secure", cookie.Name)
		}
	}
	if len(cookies) == 0 {
		return errors.New("the browser is not bound to the sign-in by a cookie")
	}
	return nil
}

// signIn checks that an invented patient of the sandbox can consent, and that the application is notified.
func (c *check) signIn(ctx context.Context) (string, error) {
	if c.portal == nil || !strings.HasPrefix(c.portal.String(), c.BaseURL+"/sandbox/") {
		return "nobody but a patient signs in there; only the sandbox has invented ones", errNotChecked
	}
	j, err := c.job()
	if err != nil {
		return "", err
	}
	c.connectionID, err = j.Connect(ctx)
	if err == nil && c.connectionID == "" {
		err = errors.New("the application was told no org_connection_id")
	}
	return "an invented patient is connected", err
}

// export checks that the record is exported, reported and downloaded completely.
func (c *check) export(ctx context.Context) (string, error) {
	if c.connectionID == "" {
		return "no patient is connected", errNotChecked
	}
	j, err := c.job()
	if err != nil {
		return "", err
	}
	taskID, err := j.Request(ctx, c.connectionID)
	if err != nil {
		return "", err
	}
	if err := j.Finish(ctx, taskID); err != nil {
		return "", err
	}
	if c.Credential.WebhookURL == "" {
		return "the file is whole (without a webhook: no inbox was given)", nil
	}
	return "the webhook came, its signature is right, and the file is whole", nil
}

// job returns the main job of an invented patient, as the organisation.
func (c *check) job() (*job.Job, error) {
	stack := runfile.Run{BaseURL: c.BaseURL, Organisations: []runfile.Organisation{c.Credential}}
	stack.Sandbox.EndpointID = c.EndpointID
	for _, p := range persona.Builtin() {
		stack.Sandbox.Personas = append(stack.Sandbox.Personas, runfile.Persona{ID: p.ID})
	}
	j, err := job.New(stack, "", io.Discard)
	if err != nil {
		return nil, err
	}
	j.Through(c.HTTP)
	return j, nil
}
