package udap

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"recordbridge/shared/fhir"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

const (
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// defaultLife is the lifetime of an access token if the response doesn't state one. maxLife is the maximum lifetime
	// that the guide allows.
	defaultLife = 5 * time.Minute
	maxLife     = time.Hour
	maxToken    = 64 << 10
	maxScope    = 8 << 10
)

// Granted holds an access token and its properties, as granted by a token endpoint.
type Granted struct {
	Access  secret.Text
	Scope   string        // granted scope, or the requested scope if the response states none
	Patient string        // FHIR ID of the patient named in the response; may be empty
	Life    time.Duration // lifetime of the token; at most one hour
}

// assertion is a JWT that proves the client's identity and states the purpose of the request (the guide, "Constructing
// an Authentication Token").
type assertion struct {
	Issuer     string         `json:"iss"`
	Subject    string         `json:"sub"`
	Audience   string         `json:"aud"`
	Expires    int64          `json:"exp"`
	IssuedAt   int64          `json:"iat"`
	ID         string         `json:"jti"`
	Extensions map[string]any `json:"extensions"`
}

// AccessToken requests a token with the client credentials grant (the guide, "Client credentials workflow").
func (c Client) AccessToken(ctx context.Context, server Server, clientID, scope string,
	extensions map[string]any,
) (Granted, error) {
	granted, err := c.accessToken(ctx, server, clientID, scope, extensions)
	return granted, at(fault.StepToken, server.Token, err)
}

func (c Client) accessToken(ctx context.Context, server Server, clientID, scope string,
	extensions map[string]any,
) (Granted, error) {
	now := c.Now()
	proof, err := c.Member.sign(assertion{
		Issuer: clientID, Subject: clientID, Audience: server.Token, Expires: now.Add(life).Unix(), IssuedAt: now.Unix(),
		ID:         c.NewID(),
		Extensions: extensions,
	})
	if err != nil {
		return Granted{}, err
	}
	form := url.Values{
		"grant_type": {clientCredentials}, "scope": {scope}, "client_assertion_type": {assertionType},
		"client_assertion": {proof},
		"udap":             {version},
	}
	status, body, err := c.exchange(ctx, http.MethodPost, server.Token, "application/x-www-form-urlencoded",
		strings.NewReader(form.Encode()))
	if err != nil {
		return Granted{}, err
	}
	return readAnswer(status, body, scope)
}

// readAnswer parses a token endpoint's response. Unused members of the response are ignored, whatever their type.
func readAnswer(status int, body []byte, asked string) (Granted, error) {
	var answer struct {
		Access  string          `json:"access_token"`
		Kind    string          `json:"token_type"`
		Life    json.RawMessage `json:"expires_in"`
		Scope   string          `json:"scope"`
		Patient string          `json:"patient"`
		Error   string          `json:"error"`
	}
	read := json.Unmarshal(body, &answer)
	isToken := visible(answer.Access, maxToken) && strings.EqualFold(answer.Kind, "bearer")
	if read != nil || status != http.StatusOK || answer.Error != "" || !isToken || len(answer.Scope) > maxScope {
		return Granted{}, refusal(status, answer.Error)
	}
	granted := Granted{Access: secret.New(answer.Access), Scope: answer.Scope, Life: lifeOf(answer.Life)}
	if granted.Scope == "" {
		granted.Scope = asked
	}
	if id := strings.TrimPrefix(answer.Patient, "Patient/"); fhir.ValidID(id) {
		granted.Patient = id
	}
	return granted, nil
}

// lifeOf parses expires_in, which may be a number or a string.
func lifeOf(raw json.RawMessage) time.Duration {
	var seconds json.Number
	if json.Unmarshal(raw, &seconds) != nil {
		return defaultLife
	}
	number, err := seconds.Float64()
	if err != nil || number <= 0 {
		return defaultLife
	}
	return time.Duration(min(number, maxLife.Seconds()) * float64(time.Second))
}
