package account

import (
	"slices"

	"recordbridge/shared/words/org"
)

// Role is an account's role in an organisation.
type Role string

// Roles of members, most powerful first.
const (
	Owner     Role = "owner"
	Admin     Role = "admin"
	Developer Role = "developer"
	Viewer    Role = "viewer"
)

// Roles returns all roles, most powerful first.
func Roles() []Role { return []Role{Owner, Admin, Developer, Viewer} }

// ParseRole parses the name of a role. ok is false for any other text.
func ParseRole(text string) (role Role, ok bool) {
	return Role(text), slices.Contains(Roles(), Role(text))
}

// Permission is a right that a dashboard endpoint requires of a member's role (docs/openapi.yaml, x-permission).
type Permission string

// Permissions of members' roles.
const (
	// View allows reading everything except secrets and delivery bodies.
	View Permission = "view"
	// Inspect allows reading patients' inquiries and the bodies of deliveries and events.
	Inspect Permission = "inspect"
	// Develop allows changing credentials and webhooks, simulating events, and replaying deliveries in test mode.
	Develop Permission = "develop"
	// Operate grants the same permissions in live mode as Develop does in test mode. It also allows changing the
	// organisation's pages and replying to patients.
	Operate Permission = "operate"
	// Manage allows inviting members, changing members other than owners, and reading the audit log.
	Manage Permission = "manage"
	// Own allows changing owners, erasing connections and deleting the organisation.
	Own Permission = "own"
)

// Permissions returns all permissions, in the order of the table in docs/adr/0036-the-dashboard.md.
func Permissions() []Permission {
	return []Permission{View, Inspect, Develop, Operate, Manage, Own}
}

// In returns the permission that an endpoint requires in the given mode. Developers have some permissions only in test
// mode. The empty mode is for endpoints that have no mode.
func (p Permission) In(mode org.Mode) Permission {
	if p == Develop && mode == org.Live {
		return Operate
	}
	return p
}

// May reports whether a role has a permission. A permission not listed below is denied.
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

// Assign returns the permission required to grant or remove a role.
func (r Role) Assign() Permission {
	if r == Owner {
		return Own
	}
	return Manage
}
