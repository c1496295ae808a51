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

// findRegistration finds the registration that a sign-in would use.
func (t *client) findRegistration(ctx context.Context) error {
	kind := t.findPlatform()
	used, err := t.Registrations.InEffect(ctx, t.subject.Tenant, t.placeOf())
	switch {
	case errors.Is(err, fault.NotFound) && t.subject.Stored:
		t.add(Registration, Failed, exchange{}, kind+" "+fault.Of(err).Public,
			"registration callback, then registration set -endpoint "+t.endpoint.ID+" …")
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
	whose, where := "everybody's", "of the platform"
	if used.Owner != (org.Tenant{}) {
		whose = "the organisation's own"
	}
	if used.Registration.Place.EndpointID != "" {
		where = "of the endpoint"
	}
	found := fmt.Sprintf("%s The registration is %s, %s: client id %s, %s.", kind, whose, where,
		plain(used.Registration.ClientID), used.Method())
	if used.Registration.Callback == "" {
		t.add(Registration, Warning, exchange{},
			found+" Its callback address is shared with others, which tells returns apart less well.",
			"Have the health system register an address of its own: registration set … -own-callback.")
		return nil
	}
	t.add(Registration, OK, exchange{}, found, "")
	return nil
}

// checkScopes compares the scopes that a sign-in would request with the server's list.
func (t *client) checkScopes() {
	if len(t.stated.Scopes) == 0 {
		t.skip(Scopes, "Discovery lists no scopes. These would be asked for: "+listed(strings.Fields(t.attempt.Scope))+".")
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
		t.add(Scopes, Warning, exchange{}, "These would be asked for and are not listed by the server: "+listed(unknown)+".",
			"Some servers list too few; others refuse what they do not list. Choose what to ask for with registration set … "+
				"-scope.")
		return
	}
	t.add(Scopes, OK, exchange{}, "All that would be asked for is listed: "+
		listed(strings.Fields(t.attempt.Scope))+".", "")
}

// checkClient applies the rules of registration set: whether our client may authenticate at the token endpoint, and
// whether the platform and discovery support its kind. Both are often wrong about the kind, which only a token request
// can settle.
func (t *client) checkClient() {
	if !t.registered {
		t.skip(Client, "There is no registration.")
		return
	}
	at, auth := t.endpoint, t.used.Auth
	at.Pins = catalog.PinsOf(t.authority.Addresses())
	if err := operator.CheckShown(auth, at); err != nil {
		t.add(Client, Failed, exchange{}, fault.Of(err).Public, "")
		return
	}
	profile, err := t.Platforms.Of(at).Listed(t.authority.Methods, t.authority.Algorithms).With(at.Overrides)
	if err == nil {
		err = operator.CheckMethod(profile, auth)
	}
	if err != nil {
		t.add(Client, Warning, exchange{}, fault.Of(err).Public,
			"client create with what is taken, and registration set … -client-auth. If the server takes ours after all: "+
				t.methodOverride()+".")
		return
	}
	if profile.Client.RedirectHTTPS && strings.HasPrefix(t.used.CallbackAddress, "http:") {
		t.add(Client, Warning, exchange{}, profile.Name+" registers https callback addresses only.", "")
	}
	if odd := t.unlisted(); odd != "" {
		t.add(Client, Warning, exchange{}, odd,
			"Ask the health system; if it insists, client create with what is on its list, and registration set … -client-auth.")
		return
	}
	found := "Nothing speaks against a public client."
	if auth.ID != "" {
		found = fmt.Sprintf("Nothing speaks against %s, and our client may prove itself so at the token endpoint.",
			auth.Method)
	}
	t.add(Client, OK, exchange{}, found, "")
}

// methodOverride returns the command that sets the endpoint's accepted client authentication, regardless of its
// platform's profile.
func (t *client) methodOverride() string {
	method := "public"
	if auth := t.used.Auth; auth.ID != "" {
		method = string(auth.Method)
	}
	override := "client: {methods: [" + method + "]}"
	if t.used.Auth.Method == catalog.AuthPrivateKey {
		override = "client: {methods: [" + method + "], algorithms: [" + t.used.Auth.Algorithm + "]}"
	}
	return "endpoint override -endpoint " + t.endpoint.ID + " -override '" + override +
		"' (together with what is said there already)"
}

// unlisted names the parts of our client's authentication that discovery does not list, if it lists any. A public
// client uses no method.
func (t *client) unlisted() string {
	auth, said := t.used.Auth, t.stated
	isPublic := slices.Contains(said.Methods, "none") || slices.Contains(said.Capabilities, "client-public")
	switch {
	case len(said.Methods) == 0:
		return ""
	case auth.ID == "" && !isPublic:
		return fmt.Sprintf("Our client is public, and discovery lists %s only.", listed(said.Methods))
	case auth.ID != "" && !slices.Contains(said.Methods, string(auth.Method)):
		return fmt.Sprintf("Our client uses %s, and discovery lists %s only.", auth.Method, listed(said.Methods))
	case auth.Method == catalog.AuthPrivateKey && len(said.Algorithms) > 0 &&
		!slices.Contains(said.Algorithms, auth.Algorithm):
		return fmt.Sprintf("Our client signs with %s, and discovery lists %s only.", auth.Algorithm, listed(said.Algorithms))
	}
	return ""
}

// checkKeys checks that the published keys, which health systems fetch, include the signing key.
func (t *client) checkKeys(ctx context.Context) {
	auth := t.used.Auth
	if auth.Method != catalog.AuthPrivateKey {
		t.skip(ClientKeys, "Our client does not sign assertions here.")
		return
	}
	set, err := t.Keys.PublicKeys(ctx, false)
	if err != nil {
		t.add(ClientKeys, Failed, exchange{}, err.Error(),
			"Look whether the service runs at its base URL, and whether the stack has client keys (parameter ClientKeys).")
		return
	}
	inline := t.Platforms.Of(t.endpoint).Client.JWKS == "inline"
	for _, key := range set.Keys {
		if member(key["alg"]) != auth.Algorithm || auth.KeyID != "" && member(key["kid"]) != auth.KeyID {
			continue
		}
		found := fmt.Sprintf("The service publishes the %s key that signs, %s.", auth.Algorithm, plain(member(key["kid"])))
		if inline {
			t.add(ClientKeys, OK, exchange{}, found+" This platform takes keys at registration and may never fetch them.",
				"Register what keys jwks prints, again after each rotation.")
			return
		}
		t.add(ClientKeys, OK, exchange{}, found, "")
		return
	}
	t.add(ClientKeys, Failed, exchange{}, fmt.Sprintf(
		"Among the %d keys that the service publishes there is none for %s with the id %s, so that no assertion can be "+
			"checked.",
		len(set.Keys), auth.Algorithm, plain(auth.KeyID)),
		"client rotate -id "+auth.ID+` -key-id "" signs with the present key.`)
}

func member(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}
