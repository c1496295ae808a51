package attempt

import (
	"context"
	"slices"

	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Organisations looks up organisations by public ID; org.Directory implements it.
type Organisations interface {
	Organisation(ctx context.Context, publicID string) (org.Organisation, error)
}

// Setting is a mode's configuration: its identity providers and whether its network and records are simulated.
type Setting struct {
	Providers []identity.Provider
	Simulated bool
}

// Admission decides which organisations may use TEFCA mode. Both fields are required.
type Admission struct {
	Organisations Organisations
	Settings      map[org.Mode]Setting // keyed by mode; a mode without a network has no entry
}

// Offer returns the setting for mode if the public ID's organisation may use the mode. It returns fault.Forbidden if
// the organisation's plan doesn't include TEFCA mode, and fault.Invalid if the mode has no identity provider or
// network.
func (d Admission) Offer(ctx context.Context, mode org.Mode, publicID string) (Setting, error) {
	if mode == org.Live {
		o, err := d.Organisations.Organisation(ctx, publicID)
		if err != nil {
			return Setting{}, err
		}
		if o.Plan != org.Paid {
			return Setting{}, fault.New(fault.Forbidden, fault.CodePlanRequired,
				"In live mode, TEFCA requires the paid plan. Test mode is available on every plan.")
		}
	}
	setting := d.Settings[mode]
	if len(setting.Providers) == 0 {
		return Setting{}, fault.BadRequest("TEFCA mode is not set up for this mode.").About("public_id")
	}
	return setting, nil
}

// provider returns the identity provider with the given ID.
func (s Setting) provider(id string) (identity.Provider, bool) {
	at := slices.IndexFunc(s.Providers, func(p identity.Provider) bool { return p.ID == id })
	if at < 0 {
		return identity.Provider{}, false
	}
	return s.Providers[at], true
}
