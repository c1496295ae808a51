package account

import (
	"slices"

	"recordbridge/shared/words/org"
)

// Role is what an account is in an organisation.
type Role string

// The roles, the mightiest first.
const (
	Owner     Role = "owner"
	Admin     Role = "admin"
	Developer Role = "developer"
	Viewer    Role = "viewer"
)

// Roles are all roles, the mightiest first.
func Roles() []Role { return []Role{Owner, Admin, Developer, Viewer} }

// ParseRole reads a role; ok is false for anything else.
func ParseRole(text string) (role Role, ok bool) {
	return Role(text), slices.Contains(Roles(), Role(text))
}

// Permission is what an endpoint of the dashboard asks of a member's role (docs/openapi.yaml, x-permission).
type Permission string

// The permissions.
const (
	// View reads everything but secrets and the bodies of deliveries.
	View Permission = "view"
	// Inspect reads bodies of deliveries and events, and what patients have asked.
	Inspect Permission = "inspect"
	// Develop changes credentials and webhooks, simulates and replays, in test mode.
	Develop Permission = "develop"
	// Operate does the same in live mode, changes the organisation's pages and answers patients.
	Operate Permission = "operate"
	// Manage changes members below owners, invites them, and reads the audit log.
	Manage Permission = "manage"
	// Own changes owners, and erases.
	Own Permission = "own"
)

// Permissions are all permissions, in the order of their table (docs/adr/0036-the-dashboard.md).
func Permissions() []Permission {
	return []Permission{View, Inspect, Develop, Operate, Manage, Own}
}

// In is what an endpoint asks in a mode: what developers may do in test mode they may not do to patients. The empty
// mode is that of endpoints that belong to neither.
func (p Permission) In(mode org.Mode) Permission {
	if p == Develop && mode == org.Live {
		return Operate
	}
	return p
}

// May is the table of who may do what. It is the only one: what it does not say is not allowed.
func (r Role) May(p Permission) bool {
	switch r {
	case Owner:
		return slices.Contains(Permissions(), p)
	case Admin:
		return slices.Contains([]Permission{View, Inspect, Develop, Operate, Manage}, p)
	case Developer:
		return slices.Contains([]Permission{View, Inspect, Develop}, p)
	case Viewer:
		return p == View
	}
	return false
}

// Assign is the permission that it takes to give a role to somebody, or to take it away.
func (r Role) Assign() Permission {
	if r == Owner {
		return Own
	}
	return Manage
}
