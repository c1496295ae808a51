package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/secret"
)

// receiver is the developer's webhook on this machine, and the secret with which its events are signed.
type receiver struct {
	url    string
	secret secret.Text
}

// checkURL rejects URLs of other machines, so that a mistyped host doesn't receive patients' events.
func checkURL(text string) error {
	to, err := url.Parse(text)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" {
		return fmt.Errorf("%q isn't an http or https URL", text)
	}
	switch to.Hostname() {
	case "localhost", "127.0.0.1", "::1", "host.docker.internal":
		return nil
	}
	return fmt.Errorf("%s isn't on this machine; register a webhook in the dashboard for other hosts", to.Hostname())
}

// deliver sends an event as the service does, prints a line about the response, and reports whether it was 2xx.
func (t tool) deliver(ctx context.Context, to receiver, e event) (bool, error) {
	at := t.now()
	headers, err := webhook.Headers(to.secret, e.ID, at, e.body)
	if err != nil {
		return false, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(e.body))
	if err != nil {
		return false, err
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	ok, result := false, "no response: is the receiver running?"
	response, err := t.client.Do(request)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err == nil:
		ok = response.StatusCode >= 200 && response.StatusCode < 300
		result = fmt.Sprintf("%d in %s", response.StatusCode, t.now().Sub(at).Round(time.Millisecond))
		if err = response.Body.Close(); err != nil {
			return false, err
		}
	}
	fmt.Fprintf(t.out, "%s  %-32s %-36s %s  → %s\n", t.clock(), e.Type, e.subject(), e.ID, result)
	return ok, nil
}
