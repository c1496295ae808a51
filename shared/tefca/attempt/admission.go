package attempt

import (
	"context"
	"slices"

	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Organisations finds the organisation behind a public id (org.Directory).
type Organisations interface {
	Organisation(ctx context.Context, publicID string) (org.Organisation, error)
}

// Setting holds the configuration of a mode: its identity providers, and whether the network and all its records are
// simulated.
type Setting struct {
	Providers []identity.Provider
	Simulated bool
}

// Admission decides which organisations may use TEFCA mode. Both fields are required.
type Admission struct {
	Organisations Organisations
	Settings      map[org.Mode]Setting // no entry for a mode without a network
}

// Offer returns the setting for the mode of a public id. The error is fault.Forbidden if the plan does not include
// TEFCA mode, and fault.Invalid if no identity provider or network is configured.
func (d Admission) Offer(ctx context.Context, mode org.Mode, publicID string) (Setting, error) {
	if mode == org.Live {
		o, err := d.Organisations.Organisation(ctx, publicID)
		if err != nil {
			return Setting{}, err
		}
		if o.Plan != org.Paid {
			return Setting{}, fault.New(fault.Forbidden, fault.CodePlanRequired,
				"TEFCA mode is part of the paid plan. Test mode is open to everybody.")
		}
	}
	setting := d.Settings[mode]
	if len(setting.Providers) == 0 {
		return Setting{}, fault.BadRequest("TEFCA mode is not set up here for this mode.").About("public_id")
	}
	return setting, nil
}

// provider returns the provider with an id.
func (s Setting) provider(id string) (identity.Provider, bool) {
	at := slices.IndexFunc(s.Providers, func(p identity.Provider) bool { return p.ID == id })
	if at < 0 {
		return identity.Provider{}, false
	}
	return s.Providers[at], true
}
