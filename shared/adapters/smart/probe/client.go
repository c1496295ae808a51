package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/fhir"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// findRegistration looks up the registration that a sign-in would use.
func (t *client) findRegistration(ctx context.Context) error {
	kind := t.findPlatform()
	used, err := t.Registrations.InEffect(ctx, t.subject.Tenant, t.placeOf())
	switch {
	case errors.Is(err, fault.NotFound) && t.subject.Stored:
		t.add(Registration, Failed, exchange{}, kind+" "+fault.Of(err).Public,
			"registration show -callback, then registration set -endpoint "+t.endpoint.ID+" …")
		return nil
	case errors.Is(err, fault.NotFound):
		t.add(Registration, Warning, exchange{}, kind+" "+fault.Of(err).Public,
			"endpoint create … -client-id ID, or registration set -platform "+t.endpoint.PlatformType+" …")
		return nil
	case errors.Is(err, fault.Invalid):
		t.add(Registration, Failed, exchange{}, kind+" "+fault.Of(err).Public, "")
		return nil
	case err != nil:
		return fmt.Errorf("registration: %w", err)
	}
	t.used, t.registered = used, true
	whose, where := "shared by all organisations", "for the platform"
	if used.Owner != (org.Tenant{}) {
		whose = "the organisation's own"
	}
	if used.Registration.Place.EndpointID != "" {
		where = "for the endpoint"
	}
	found := fmt.Sprintf("%s Registration: %s, %s, client ID %s, %s.", kind, whose, where,
		plain(used.Registration.ClientID), used.Method())
	if used.Registration.Callback == "" {
		t.add(Registration, Warning, exchange{},
			found+" It shares its callback URL with other registrations, so responses are harder to tell apart.",
			"Have the health system register a separate callback URL: registration set … -own-callback.")
		return nil
	}
	t.add(Registration, OK, exchange{}, found, "")
	return nil
}

// checkScopes compares the scopes that a sign-in would request with those that the server lists.
func (t *client) checkScopes() {
	if len(t.stated.Scopes) == 0 {
		t.skip(Scopes, "Discovery lists no scopes. Requested scopes: "+listed(strings.Fields(t.attempt.Scope))+".")
		return
	}
	known := fhir.ParseScopes(strings.Join(t.stated.Scopes, " "))
	var unknown []string
	for scope := range strings.FieldsSeq(t.attempt.Scope) {
		rest, clinical := strings.CutPrefix(scope, "patient/")
		name, _, _ := strings.Cut(rest, ".")
		if !slices.Contains(t.stated.Scopes, scope) && (!clinical || !known.Allows(name, fhir.Search)) {
			unknown = append(unknown, scope)
		}
	}
	if len(unknown) > 0 {
		t.add(Scopes, Warning, exchange{}, "Requested scopes that the server doesn't list: "+listed(unknown)+".",
			"Some servers list too few scopes; others reject those they don't list. Choose the scopes with "+
				"registration set … -scope.")
		return
	}
	t.add(Scopes, OK, exchange{}, "The server lists all requested scopes: "+
		listed(strings.Fields(t.attempt.Scope))+".", "")
}

// checkClient applies the same checks as the registration set command. It checks whether the client may authenticate at
// the token endpoint, and whether the platform and the discovery document support the client's authentication method.
// Only a token request can show which methods work, because platform profiles and discovery documents are often wrong.
func (t *client) checkClient() {
	if !t.registered {
		t.skip(Client, "No client is registered.")
		return
	}
	at, auth := t.endpoint, t.used.Auth
	at.Pins = catalog.PinsOf(t.authority.Addresses())
	if err := operator.CheckSecretOrigins(auth, at); err != nil {
		t.add(Client, Failed, exchange{}, fault.Of(err).Public, "")
		return
	}
	profile, err := t.Platforms.Of(at).Listed(t.authority.Methods, t.authority.Algorithms).With(at.Overrides)
	if err == nil {
		err = operator.CheckMethod(profile, auth)
	}
	if err != nil {
		t.add(Client, Warning, exchange{}, fault.Of(err).Public,
			"client create with a supported method, then registration set … -client-auth. If the server accepts ours "+
				"after all: "+
				t.methodOverride()+".")
		return
	}
	if profile.Client.RedirectHTTPS && strings.HasPrefix(t.used.CallbackAddress, "http:") {
		t.add(Client, Warning, exchange{}, profile.Name+" registers only https callback URLs.", "")
	}
	if odd := t.unlisted(); odd != "" {
		t.add(Client, Warning, exchange{}, odd,
			"Ask the health system. If it insists, run client create with a listed method, and then registration set "+
				"… -client-auth.")
		return
	}
	found := "Discovery is compatible with a public client."
	if auth.ID != "" {
		found = fmt.Sprintf("Discovery is compatible with %s, which our client may use at the token endpoint.",
			auth.Method)
	}
	t.add(Client, OK, exchange{}, found, "")
}

// methodOverride returns the operator command that overrides the platform profile's client authentication method for
// the endpoint.
func (t *client) methodOverride() string {
	method := "public"
	if auth := t.used.Auth; auth.ID != "" {
		method = string(auth.Method)
	}
	override := "client: {methods: [" + method + "]}"
	if t.used.Auth.Method == catalog.AuthPrivateKey {
		override = "client: {methods: [" + method + "], algorithms: [" + t.used.Auth.Algorithm + "]}"
	}
	return "endpoint set -id " + t.endpoint.ID + " -override '" + override +
		"' (together with the existing overrides)"
}

// unlisted describes the parts of the client's authentication that are missing from the discovery document's lists. It
// returns "" if discovery lists no methods.
func (t *client) unlisted() string {
	auth, said := t.used.Auth, t.stated
	isPublic := slices.Contains(said.Methods, "none") || slices.Contains(said.Capabilities, "client-public")
	switch {
	case len(said.Methods) == 0:
		return ""
	case auth.ID == "" && !isPublic:
		return fmt.Sprintf("Our client is public, but discovery lists only %s.", listed(said.Methods))
	case auth.ID != "" && !slices.Contains(said.Methods, string(auth.Method)):
		return fmt.Sprintf("Our client uses %s, but discovery lists only %s.", auth.Method, listed(said.Methods))
	case auth.Method == catalog.AuthPrivateKey && len(said.Algorithms) > 0 &&
		!slices.Contains(said.Algorithms, auth.Algorithm):
		return fmt.Sprintf("Our client signs with %s, but discovery lists only "+
			"%s.", auth.Algorithm, listed(said.Algorithms))
	}
	return ""
}

// checkKeys checks that the signing key is among the published keys, which health systems fetch.
func (t *client) checkKeys(ctx context.Context) {
	auth := t.used.Auth
	if auth.Method != catalog.AuthPrivateKey {
		t.skip(ClientKeys, "Our client doesn't sign assertions here.")
		return
	}
	set, err := t.Keys.PublicKeys(ctx, false)
	if err != nil {
		t.add(ClientKeys, Failed, exchange{}, err.Error(),
			"Check that the service is reachable at its base URL and that the stack has client keys (parameter "+
				"ClientKeys).")
		return
	}
	inline := t.Platforms.Of(t.endpoint).Client.JWKS == "inline"
	for _, key := range set.Keys {
		if member(key["alg"]) != auth.Algorithm || auth.KeyID != "" && member(key["kid"]) != auth.KeyID {
			continue
		}
		found := fmt.Sprintf("The service publishes the signing key for %s: "+
			"%s.", auth.Algorithm, plain(member(key["kid"])))
		if inline {
			t.add(ClientKeys, OK, exchange{}, found+" This platform takes keys at registration and may never fetch them.",
				"Register the keys that keys jwks prints, and repeat this after each rotation.")
			return
		}
		t.add(ClientKeys, OK, exchange{}, found, "")
		return
	}
	t.add(ClientKeys, Failed, exchange{}, fmt.Sprintf(
		"None of the %d published keys is for %s with the ID %s, so assertions can't be verified.",
		len(set.Keys), auth.Algorithm, plain(auth.KeyID)),
		"client rotate -id "+auth.ID+` -key-id "" signs with the current key.`)
}

func member(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}
