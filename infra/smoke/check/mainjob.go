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

// connect checks the authorization parameters in the redirect to the portal (SMART App Launch, RFC 7636). It also
// checks that a cookie binds the attempt to the browser.
func (c *check) connect(ctx context.Context) (string, error) {
	if c.EndpointID == "" {
		return "no endpoint is known: name a test mode endpoint", errNotChecked
	}
	got, err := c.send(ctx, request{method: http.MethodGet, path: "/bridge/connect", query: url.Values{
		"public_id": {c.Credential.PublicID}, "endpoint_id": {c.EndpointID}, "redirect_uri": {c.Credential.RedirectURI},
	}})
	if err != nil {
		return "", err
	}
	portal, err := url.Parse(got.Header.Get("Location"))
	if got.Status != http.StatusFound || err != nil {
		return "", fmt.Errorf("GET /bridge/connect returned %d (x-request-id "+
			"%s)", got.Status, got.Header.Get("X-Request-Id"))
	}
	query := portal.Query()
	if failed := query.Get("error"); failed != "" {
		return "", fmt.Errorf("%s: %s", failed, query.Get("error_description"))
	}
	for name, want := range map[string]string{"response_type": "code", "code_challenge_method": "S256"} {
		if query.Get(name) != want {
			return "", fmt.Errorf("the portal receives %s=%q, want %q", name, query.Get(name), want)
		}
	}
	if query.Get("state") == "" || !strings.HasPrefix(query.Get("redirect_uri"), c.BaseURL+"/bridge/callback") {
		return "", fmt.Errorf("the portal's redirect_uri is %q", query.Get("redirect_uri"))
	}
	if err := bound(got.Header, strings.HasPrefix(c.BaseURL, "https://")); err != nil {
		return "", err
	}
	c.left = append(c.left, "an unfinished sign-in, which expires within an hour")
	c.portal = portal
	return "redirects to the portal at " + portal.Host + portal.Path, nil
}

// bound checks that the response sets at least one cookie and that all its cookies are HttpOnly and SameSite=Lax. If
// isSecure is set, every cookie must have the Secure attribute.
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

// signIn checks that a synthetic patient can sign in and consent, and that the redirect to the application contains the
// connection's ID.
func (c *check) signIn(ctx context.Context) (string, error) {
	if c.portal == nil || !strings.HasPrefix(c.portal.String(), c.BaseURL+"/sandbox/") {
		return "only patients can sign in there; synthetic patients exist only in the sandbox", errNotChecked
	}
	j, err := c.job()
	if err != nil {
		return "", err
	}
	c.connectionID, err = j.Connect(ctx)
	if err == nil && c.connectionID == "" {
		err = errors.New("the redirect to the application has no org_connection_id")
	}
	return "a synthetic patient is connected", err
}

// export checks that an export finishes, that its event is delivered, and that its file is complete.
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
		return "the file is complete (no inbox was given, so no webhook was checked)", nil
	}
	return "the webhook arrived, its signature is valid, and the file is complete", nil
}

// job returns the main job for a sandbox patient and the check's organisation.
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
