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

// believed is how long what a facility's metadata says is taken for true, if it does not end sooner. A facility whose
// keys have been stolen is asked no longer than that.
const believed = time.Hour

// Scopes, in the words of SMART App Launch 1 and 2. To locate, the Patient is enough.
const (
	wholeRecord, wholeRecordV2 = "patient/*.read", "patient/*.rs"
	patientOnly, patientOnlyV2 = "patient/Patient.read", "patient/Patient.rs"
)

// errScopes says that a facility knows no scope that would open a record.
var errScopes = fmt.Errorf("facilitated: no scope of a patient's record: %w", tefca.ErrRefused)

// facility is a place with our registration there, which is made when it is first needed.
type facility struct {
	place Place

	turn  chan struct{} // of one: who has it reads and writes known
	known registration
}

// registration is how a facility's authorization server knows our client, beside what its metadata has said.
type registration struct {
	server   udap.Server
	clientID string
	until    time.Time
}

// registered returns our registration at a facility, and registers where there is none, or not any more. refused is one
// that the facility has just not accepted.
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
	until := n.now().Add(believed)
	if server.Until.Before(until) {
		until = server.Until
	}
	f.known = registration{server: server, clientID: clientID, until: until}
	return f.known, nil
}

// token gets an access token of a facility for a person. A client that the facility does not know any
// more registers once more.
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

// scopes are what is asked for of what a server says that it knows: a wildcard only where it has one (the guide, "Scope
// negotiation"), and where it says nothing, what TEFCA mode grants. whole is empty where it knows nothing of use.
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
