// Package cleanup removes the objects that a check created in a running stack. The package uses a wiring.Operator. For
// operations that Operator lacks, it calls the API with the organisation's credentials. The package reports the objects
// that the service retains permanently. The package never creates objects.
package cleanup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/local/runfile"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Doer sends HTTP requests.
type Doer interface {
	Do(r *http.Request) (*http.Response, error)
}

// Disconnect ends a connection and deletes its tokens and files, using an organisation's credential. If the connection
// has already ended, Disconnect succeeds.
func Disconnect(ctx context.Context, d Doer, baseURL string, of runfile.Organisation, connectionID string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete,
		baseURL+"/bridge/org_connection/"+url.PathEscape(connectionID), http.NoBody)
	if err != nil {
		return fmt.Errorf("disconnect: %w", err)
	}
	r.SetBasicAuth(of.PublicID, of.PrivateKey)
	response, err := d.Do(r)
	if err != nil {
		return fmt.Errorf("disconnect: %w", err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("disconnect: the API returned %d", response.StatusCode)
	}
	return nil
}

// Clear deletes an organisation that is used only by a check, including all its data. To end connections, Clear uses
// the test-mode entries in credentials. If the organisation can't be deleted, it stays suspended and left contains the
// reason; otherwise left is empty. If a step fails, Clear continues with the next one.
func Clear(
	ctx context.Context, rules *wiring.Operator, d Doer, baseURL string, credentials []runfile.Organisation,
) (left string, err error) {
	if len(credentials) == 0 {
		return "", nil
	}
	id := credentials[0].ID
	var failed []error
	for _, c := range credentials {
		if c.Mode == string(org.Test) {
			failed = append(failed, disconnectAll(ctx, rules, d, baseURL, c))
		}
	}
	for _, tenant := range (org.Organisation{ID: id}).Tenants() {
		failed = append(failed, clearWebhooks(ctx, rules, tenant), clearCredentials(ctx, rules, tenant))
	}
	owner := org.Tenant{Mode: org.Test, OrgID: id}
	failed = append(failed, rules.Suspensions.Suspend(ctx, owner))
	err = rules.Suspensions.Remove(ctx, owner)
	if errors.Is(err, fault.Conflict) {
		return strings.TrimSuffix(fault.Of(err).Public, "."), errors.Join(failed...)
	}
	return "", errors.Join(append(failed, err)...)
}

func disconnectAll(ctx context.Context, rules *wiring.Operator, d Doer, baseURL string, of runfile.Organisation) error {
	query := operator.ConnectionQuery{Status: connection.Authorized}
	for {
		page, err := rules.Connections.List(ctx, org.Tenant{Mode: org.Test, OrgID: of.ID}, query)
		if err != nil {
			return err
		}
		for _, c := range page.Connections {
			if err := Disconnect(ctx, d, baseURL, of, c.ID); err != nil {
				return err
			}
		}
		if query.After = page.Next; page.Next == "" {
			return nil
		}
	}
}

func clearWebhooks(ctx context.Context, rules *wiring.Operator, of org.Tenant) error {
	all, err := rules.Webhooks.List(ctx, of)
	failed := []error{err}
	for _, w := range all {
		if !w.Disabled {
			failed = append(failed, rules.Webhooks.Disable(ctx, of, w.ID))
		}
		failed = append(failed, rules.Webhooks.Remove(ctx, of, w.ID))
	}
	return errors.Join(failed...)
}

func clearCredentials(ctx context.Context, rules *wiring.Operator, of org.Tenant) error {
	all, err := rules.Credentials.List(ctx, of)
	failed := append(make([]error, 0, 1+2*len(all)), err)
	for _, c := range all {
		_, _, revoking := rules.Credentials.Revoke(ctx, c.PublicID(), operator.Revocation{AllowNone: true})
		failed = append(failed, revoking, rules.Credentials.Remove(ctx, c.PublicID()))
	}
	return errors.Join(failed...)
}

// Sandbox returns the endpoint ID of the stack's own synthetic EHR, or "" if patients can't connect to it.
func Sandbox(ctx context.Context, rules *wiring.Operator, baseURL string) (string, error) {
	all, err := rules.Endpoints.List(ctx)
	if err != nil {
		return "", err
	}
	for _, e := range all {
		if e.FHIRBase == baseURL+"/sandbox/fhir" && e.Mode == string(org.Test) && e.Status == catalog.EndpointActive {
			return e.ID, nil
		}
	}
	return "", nil
}
