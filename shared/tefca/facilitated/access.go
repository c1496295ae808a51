package facilitated

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/facilitated/udap"
)

// maxMetadataAge is the maximum time for which a facility's metadata is trusted. Metadata that expires sooner is
// trusted only until its expiry. The maximum age limits how long the service trusts a facility whose keys have been
// stolen.
const maxMetadataAge = time.Hour

// Scopes in the syntax of SMART App Launch 1 and 2. Locating a person requires only the Patient resource.
const (
	wholeRecord, wholeRecordV2 = "patient/*.read", "patient/*.rs"
	patientOnly, patientOnlyV2 = "patient/Patient.read", "patient/Patient.rs"
)

// errScopes means that a facility doesn't support any scope that grants access to a record.
var errScopes = fmt.Errorf("facilitated: no scope of a patient's record: %w", tefca.ErrRefused)

// facility is a Place and the service's client registration there, which is created on first use.
type facility struct {
	place Place

	turn  chan struct{} // semaphore of capacity one; its holder owns known
	known registration
}

// registration is the service's client registration at an authorization server, with the server's metadata.
type registration struct {
	server   udap.Server
	clientID string
	until    time.Time
}

// registered returns the client registration at a facility. It registers the service if there is no valid registration.
// refused is a registration that the facility has just rejected.
func (n *Network) registered(ctx context.Context, f *facility, refused registration) (registration, error) {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return registration{}, fmt.Errorf("%w: %w", tefca.ErrUnavailable, ctx.Err())
	}
	isRefused := refused.clientID != "" && f.known.until.Equal(refused.until)
	if n.now().Before(f.known.until) && !isRefused {
		return f.known, nil
	}
	server, err := n.client.Discover(ctx, f.place.FHIRBase, f.place.Origins)
	if err != nil {
		return registration{}, err
	}
	if !n.satisfies(server) {
		return registration{}, errExtensions
	}
	whole, patient := scopes(server.Scopes)
	if whole == "" {
		return registration{}, errScopes
	}
	asked := strings.Join(slices.Compact([]string{whole, patient}), " ")
	us := udap.Application{Name: n.config.ClientName, Contacts: n.config.Contacts, Scope: asked}
	clientID, err := n.client.Register(ctx, server, us)
	if err != nil {
		return registration{}, err
	}
	until := n.now().Add(maxMetadataAge)
	if server.Until.Before(until) {
		until = server.Until
	}
	f.known = registration{server: server, clientID: clientID, until: until}
	return f.known, nil
}

// token requests an access token for a person from a facility. If the facility no longer recognises the client, token
// registers the service again.
func (n *Network) token(ctx context.Context, f *facility, who tefca.Assertion,
	toLocate bool,
) (udap.Granted, registration, error) {
	var with registration
	for try := 1; ; try++ {
		if !n.now().Before(who.ExpiresAt) {
			return udap.Granted{}, registration{}, fmt.Errorf("facilitated: %w", tefca.ErrIdentity)
		}
		var err error
		if with, err = n.registered(ctx, f, with); err != nil {
			return udap.Granted{}, registration{}, err
		}
		scope, patient := scopes(with.server.Scopes)
		if toLocate {
			scope = patient
		}
		granted, err := n.client.AccessToken(ctx, with.server, with.clientID, scope, n.extensions(f.place, with.server, who))
		refused, isRefusal := errors.AsType[*udap.RefusalError](err)
		if isRefusal && refused.Code == udap.InvalidClient && try == 1 {
			continue
		}
		return granted, with, err
	}
}

// scopes returns the scopes to request from a server, given the scopes that the server supports. Wildcards are
// requested only if the server supports them (the guide, "Scope negotiation"). If the server lists no scopes, scopes
// returns the scopes that TEFCA mode grants. whole is empty if the server supports no usable scope.
func scopes(known []string) (whole, patient string) {
	switch {
	case len(known) == 0, slices.Contains(known, wholeRecord):
		return wholeRecord, patientOnly
	case slices.Contains(known, wholeRecordV2):
		return wholeRecordV2, patientOnlyV2
	}
	var single []string
	for _, one := range known {
		if strings.HasPrefix(one, "patient/") && (strings.HasSuffix(one, ".read") || strings.HasSuffix(one, ".rs")) {
			single = append(single, one)
		}
		if one == patientOnly || one == patientOnlyV2 {
			patient = one
		}
	}
	whole = strings.Join(single, " ")
	return whole, cmp.Or(patient, whole)
}
