// Package passkey implements passkey registration and authentication (W3C WebAuthn level 3) for a single relying party.
// The package creates options for the browser and verifies the browser's responses. The package is stateless: the
// caller stores each ceremony's state and ensures that it is used only once.
package passkey

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/fault"
)

// Party is a relying party, identified by the dashboard's host. Passkeys for one host do not work for any other.
type Party struct {
	rules *webauthn.WebAuthn // nil if the host can't use passkeys
}

// New returns the relying party for the dashboard's URL. Passkeys require a domain name (section 5.1.2), so a Party for
// an IP address does not support them.
func New(dashboard, name string) (Party, error) {
	at, err := url.Parse(dashboard)
	if err != nil || at.Hostname() == "" {
		return Party{}, errors.New("passkeys: the dashboard has no host")
	}
	if _, err = netip.ParseAddr(at.Hostname()); err == nil {
		return Party{}, nil
	}
	resident := true
	rules, err := webauthn.New(&webauthn.Config{
		RPID: at.Hostname(), RPDisplayName: name, RPOrigins: []string{at.Scheme + "://" + at.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			RequireResidentKey: &resident, ResidentKey: protocol.ResidentKeyRequirementRequired,
			UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return Party{}, fmt.Errorf("passkeys: %w", err)
	}
	return Party{rules: rules}, nil
}

// Register begins the registration of a passkey for an account. The browser excludes the account's existing passkeys.
func (p Party) Register(a account.Account) (account.Begun, error) {
	if p.rules == nil {
		return account.Begun{}, unavailable()
	}
	owner, err := personOf(a)
	if err != nil {
		return account.Begun{}, err
	}
	options, state, err := p.rules.BeginRegistration(owner,
		webauthn.WithExclusions(webauthn.Credentials(owner.keys).CredentialDescriptors()))
	if err != nil {
		return account.Begun{}, fmt.Errorf("begin a registration: %w", err)
	}
	return begun(options.Response, state)
}

// Registered verifies a response to Register and returns the new passkey. It returns fault.Invalid if the response
// can't be verified.
func (p Party) Registered(a account.Account, state, answer []byte) (account.Passkey, error) {
	data, err := p.stateOf(state)
	if err != nil {
		return account.Passkey{}, err
	}
	owner, err := personOf(a)
	if err != nil {
		return account.Passkey{}, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return account.Passkey{}, unproven(err)
	}
	made, err := p.rules.CreateCredential(owner, data, parsed)
	if err != nil {
		return account.Passkey{}, unproven(err)
	}
	if slices.ContainsFunc(owner.keys, func(k webauthn.Credential) bool { return bytes.Equal(k.ID, made.ID) }) {
		return account.Passkey{}, fault.BadRequest("This passkey is already registered for the " +
			"account.").About("response")
	}
	return stored(made)
}

// Ask begins an authentication for which the user chooses an account in the browser.
func (p Party) Ask() (account.Begun, error) {
	if p.rules == nil {
		return account.Begun{}, unavailable()
	}
	options, state, err := p.rules.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return account.Begun{}, fmt.Errorf("ask for a passkey: %w", err)
	}
	return begun(options.Response, state)
}

// Claim parses a response to Register or Ask. Only a response to Ask identifies an account. Claim returns fault.Invalid
// for a malformed response.
func (Party) Claim(answer []byte) (account.Claim, error) {
	var said struct {
		Response struct {
			ClientData protocol.URLEncodedBase64 `json:"clientDataJSON"`
			UserHandle protocol.URLEncodedBase64 `json:"userHandle"`
		} `json:"response"`
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return account.Claim{}, unproven(err)
	}
	var client struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(said.Response.ClientData, &client); err != nil || client.Challenge == "" {
		return account.Claim{}, unproven(err)
	}
	return account.Claim{Challenge: client.Challenge, AccountID: string(said.Response.UserHandle)}, nil
}

// Prove verifies a response to Ask against the account that the response identifies. It returns the updated passkey.
// Prove returns fault.Invalid if the response can't be verified or if the passkey's counter decreased, which suggests a
// cloned passkey (section 6.1.1).
func (p Party) Prove(a account.Account, state, answer []byte) (account.Passkey, error) {
	data, err := p.stateOf(state)
	if err != nil {
		return account.Passkey{}, err
	}
	owner, err := personOf(a)
	if err != nil {
		return account.Passkey{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return account.Passkey{}, unproven(err)
	}
	_, used, err := p.rules.ValidatePasskeyLogin(func(_, handle []byte) (webauthn.User, error) {
		if string(handle) != a.ID {
			return nil, errors.New("another account's")
		}
		return owner, nil
	}, data, parsed)
	if err != nil {
		return account.Passkey{}, unproven(err)
	}
	if used.Authenticator.CloneWarning {
		return account.Passkey{}, unproven(errors.New("the counter went back"))
	}
	return stored(used)
}

// person adapts an account for the WebAuthn library.
type person struct {
	account account.Account
	keys    []webauthn.Credential
}

func (p person) WebAuthnID() []byte                         { return []byte(p.account.ID) }
func (p person) WebAuthnName() string                       { return p.account.Email }
func (p person) WebAuthnDisplayName() string                { return p.account.Email }
func (p person) WebAuthnCredentials() []webauthn.Credential { return p.keys }

func personOf(a account.Account) (person, error) {
	p := person{account: a}
	for _, k := range a.Passkeys {
		var key webauthn.Credential
		if err := json.Unmarshal(k.Credential, &key); err != nil {
			return person{}, fmt.Errorf("read a passkey: %w", err)
		}
		p.keys = append(p.keys, key)
	}
	return p, nil
}

func begun(options any, state *webauthn.SessionData) (account.Begun, error) {
	body, err := json.Marshal(options)
	if err != nil {
		return account.Begun{}, fmt.Errorf("encode options: %w", err)
	}
	kept, err := json.Marshal(state)
	if err != nil {
		return account.Begun{}, fmt.Errorf("encode a ceremony: %w", err)
	}
	return account.Begun{Options: body, Challenge: state.Challenge, State: kept}, nil
}

func (p Party) stateOf(kept []byte) (webauthn.SessionData, error) {
	var state webauthn.SessionData
	if p.rules == nil {
		return state, unavailable()
	}
	if err := json.Unmarshal(kept, &state); err != nil {
		return state, fmt.Errorf("read a ceremony: %w", err)
	}
	return state, nil
}

// stored converts a passkey to its stored form. It omits attestations, which are long and unused.
func stored(key *webauthn.Credential) (account.Passkey, error) {
	key.Attestation = webauthn.CredentialAttestation{}
	body, err := json.Marshal(key)
	if err != nil {
		return account.Passkey{}, fmt.Errorf("encode a passkey: %w", err)
	}
	return account.Passkey{ID: protocol.URLEncodedBase64(key.ID).String(), Credential: body}, nil
}

func unproven(cause error) error {
	return fault.BadRequest(
		"The passkey could not be verified. Try again, or sign in another way.").About("response").Because(cause)
}

func unavailable() error {
	return fault.New(fault.Unavailable, fault.CodeUnavailable,
		"Passkeys need a host name. Open the dashboard at a host name such as localhost.")
}
