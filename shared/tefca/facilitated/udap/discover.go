package udap

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/tefca"
	"recordbridge/shared/words/fault"
)

const (
	// maxClockSkew is the tolerated difference between the client's and the server's clocks.
	maxClockSkew = time.Minute
	// longestMetadata is the maximum lifetime of signed metadata, which is one year, including leap years.
	longestMetadata = 366 * 24 * time.Hour
	// maxWords is the maximum number of list items that the client reads.
	maxWords = 500
)

// Values that metadata must contain (UDAP Server Metadata section 1).
const (
	version           = "1"
	clientCredentials = "client_credentials"
	keyAuthentication = "private_key_jwt"
)

// Reasons for rejecting a server's metadata.
const (
	errMetadata  = flaw("metadata")           // The metadata violates the guide, for example because it isn't signed.
	errClaims    = flaw("metadata_claims")    // The metadata is signed for another server, or is not currently valid.
	errEndpoints = flaw("metadata_endpoints") // An endpoint has an origin that is not allowed.
	// The server lacks a capability that the client needs, or requires one that the client lacks.
	errUnable = flaw("unsupported")
)

// Server describes a FHIR server and its authorization server, based on verified metadata.
type Server struct {
	Base         string    // FHIR base URL, spelled as in the metadata
	Token        string    // URL of the token endpoint
	Registration string    // URL of the registration endpoint
	Extensions   []string  // supported authorization extensions
	Required     []string  // authorization extensions required in every token request
	Scopes       []string  // supported scopes; empty if the server does not list them
	Until        time.Time // expiry of the metadata
}

// metadata is the document at .well-known/udap. Unsigned copies of the endpoints are ignored.
type metadata struct {
	Versions       []string `json:"udap_versions_supported"`
	Profiles       []string `json:"udap_profiles_supported"`
	Extensions     []string `json:"udap_authorization_extensions_supported"`
	Required       []string `json:"udap_authorization_extensions_required"`
	Certifications []string `json:"udap_certifications_required"`
	Grants         []string `json:"grant_types_supported"`
	Scopes         []string `json:"scopes_supported"`
	TokenSigning   []string `json:"token_endpoint_auth_signing_alg_values_supported"`
	Registering    []string `json:"registration_endpoint_jwt_signing_alg_values_supported"`
	Signed         string   `json:"signed_metadata"`
}

// claims holds the claims in signed_metadata.
type claims struct {
	Issuer       string  `json:"iss"`
	Subject      string  `json:"sub"`
	ID           string  `json:"jti"`
	IssuedAt     float64 `json:"iat"`
	Expires      float64 `json:"exp"`
	Token        string  `json:"token_endpoint"`
	Registration string  `json:"registration_endpoint"`
}

// Discover fetches and verifies the metadata of the FHIR server at base. base must equal the URL in the metadata,
// character by character. Each endpoint must have the origin of base or one of origins, such as
// "https://auth.example.org".
func (c Client) Discover(ctx context.Context, base string, origins []string) (Server, error) {
	server, err := c.discover(ctx, base, origins)
	return server, at(fault.StepDiscovery, base, err)
}

func (c Client) discover(ctx context.Context, base string, origins []string) (Server, error) {
	status, answer, err := c.exchange(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+"/.well-known/udap",
		"", http.NoBody)
	if err != nil {
		return Server{}, err
	}
	if status != http.StatusOK {
		return Server{}, refusal(status, "")
	}
	var said metadata
	if json.Unmarshal(answer, &said) != nil || said.Signed == "" {
		return Server{}, unreadable(errMetadata)
	}
	payload, err := c.verify(said.Signed, base)
	if err != nil {
		return Server{}, unreadable(err)
	}
	var signed claims
	if json.Unmarshal(payload, &signed) != nil {
		return Server{}, unreadable(errClaims)
	}
	if err := c.check(signed, base, origins); err != nil {
		return Server{}, unreadable(err)
	}
	if !c.isSupported(said) {
		return Server{}, fmt.Errorf("%w: %w", tefca.ErrRefused, errUnable)
	}
	return Server{
		Base: base, Token: signed.Token, Registration: signed.Registration, Extensions: bounded(said.Extensions),
		Required: bounded(said.Required),
		Scopes:   bounded(said.Scopes), Until: time.Unix(int64(signed.Expires), 0),
	}, nil
}

func unreadable(why error) error { return fmt.Errorf("%w: %w", tefca.ErrContent, why) }

func bounded(words []string) []string { return words[:min(len(words), maxWords)] }

// check verifies that the signed claims match the request (UDAP Server Metadata section 3).
func (c Client) check(signed claims, base string, origins []string) error {
	now := c.Now()
	issued, expires := time.Unix(int64(signed.IssuedAt), 0), time.Unix(int64(signed.Expires), 0)
	switch {
	case signed.Issuer != base || signed.Subject != base || signed.ID == "":
		return errClaims
	case issued.After(now.Add(maxClockSkew)), !now.Before(expires), expires.Sub(issued) > longestMetadata,
		signed.IssuedAt <= 0:
		return errClaims
	}
	home, ok := Origin(base)
	if !ok {
		return errEndpoints
	}
	right := append([]string{home}, origins...)
	for _, endpoint := range []string{signed.Token, signed.Registration} {
		if where, ok := Origin(endpoint); !ok || !slices.Contains(right, where) {
			return errEndpoints
		}
	}
	return nil
}

// isSupported reports whether the server supports the capabilities that this client uses. An empty list means that the
// server does not support the capability (the guide, "Required UDAP Metadata").
func (c Client) isSupported(m metadata) bool {
	profiles := slices.Contains(m.Profiles, "udap_dcr") && slices.Contains(m.Profiles, "udap_authn") &&
		slices.Contains(m.Profiles, "udap_authz")
	return slices.Contains(m.Versions, version) && profiles && slices.Contains(m.Grants, clientCredentials) &&
		c.Member.signs(m.TokenSigning) && c.Member.signs(m.Registering) && len(m.Certifications) == 0
}

// Origin returns an absolute URL's scheme, host and port (RFC 6454). ok is false for a URL that must not be requested.
func Origin(address string) (text string, ok bool) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.User != nil || parsed.Fragment != "" || parsed.Opaque != "" {
		return "", false
	}
	if parsed.Scheme != "https" && parsed.Scheme != "http" { // safehttp allows http only for configured address ranges.
		return "", false
	}
	port := map[string]string{"http": ":80", "https": ":443"}[parsed.Scheme]
	return parsed.Scheme + "://" + strings.TrimSuffix(strings.ToLower(parsed.Host), port), true
}
