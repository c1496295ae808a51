package udap

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"recordbridge/shared/words/fault"
)

// life is the lifetime of the client's JWTs. It is a minute below the guide's maximum of five minutes, to allow for
// clock skew.
const life = 4 * time.Minute

// maxClientID is the maximum length of a client ID in bytes.
const maxClientID = 512

// Application holds the service's details for client registration.
type Application struct {
	Name     string
	Contacts []string // URIs, including a mailto URI
	Scope    string   // all scopes that the service will ever request
}

// statement is a software statement (UDAP Dynamic Client Registration section 2).
type statement struct {
	Issuer         string   `json:"iss"`
	Subject        string   `json:"sub"`
	Audience       string   `json:"aud"`
	Expires        int64    `json:"exp"`
	IssuedAt       int64    `json:"iat"`
	ID             string   `json:"jti"`
	Name           string   `json:"client_name"`
	Contacts       []string `json:"contacts"`
	GrantTypes     []string `json:"grant_types"`
	Authentication string   `json:"token_endpoint_auth_method"`
	Scope          string   `json:"scope"`
}

// Register registers the service at a server and returns its client ID. If the service is already registered, the
// server returns the same ID or a replacement (the guide, "Modifying and Cancelling Registrations").
func (c Client) Register(ctx context.Context, server Server, us Application) (clientID string, err error) {
	clientID, err = c.register(ctx, server, us)
	return clientID, at(fault.StepToken, server.Registration, err)
}

func (c Client) register(ctx context.Context, server Server, us Application) (string, error) {
	now := c.Now()
	signed, err := c.Member.sign(statement{
		Issuer: c.Member.uri, Subject: c.Member.uri, Audience: server.Registration, Expires: now.Add(life).Unix(),
		IssuedAt: now.Unix(),
		ID:       c.NewID(), Name: us.Name, Contacts: us.Contacts, GrantTypes: []string{clientCredentials},
		Authentication: keyAuthentication,
		Scope:          us.Scope,
	})
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(map[string]any{"software_statement": signed, "certifications": []string{}, "udap": version})
	if err != nil {
		return "", fmt.Errorf("udap: encode a registration: %w", err)
	}
	status, answer, err := c.exchange(ctx, http.MethodPost, server.Registration, "application/json", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	var registered struct {
		ClientID   string   `json:"client_id"`
		GrantTypes []string `json:"grant_types"`
		Error      string   `json:"error"`
	}
	read := json.Unmarshal(answer, &registered)
	isCancelled := registered.GrantTypes != nil && len(registered.GrantTypes) == 0
	if read != nil || status != http.StatusCreated && status != http.StatusOK ||
		!visible(registered.ClientID, maxClientID) || isCancelled {
		return "", refusal(status, registered.Error)
	}
	return registered.ClientID, nil
}

// visible reports whether text consists of 1 to most visible ASCII characters.
func visible(text string, most int) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return text != "" && len(text) <= most
}
