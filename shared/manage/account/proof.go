package account

import (
	"slices"

	"recordbridge/shared/words/org"
)

// Action names an operation of a member or account that may need a recent proof of identity (docs/openapi.yaml,
// x-proof).
type Action string

// The actions.
const (
	// CreateKey creates a credential, or adds a key to one.
	CreateKey Action = "create_key"
	// RevealSecret reveals a webhook's signing secrets.
	RevealSecret Action = "reveal_secret"
	// RotateSecret replaces a webhook's signing secret and returns the new one.
	RotateSecret Action = "rotate_secret"
	// AddWebhook creates a webhook.
	AddWebhook Action = "add_webhook"
	// MoveWebhook changes a webhook's URL.
	MoveWebhook Action = "move_webhook"
	// ChangeMembers changes roles, removes members, and creates and withdraws invitations.
	ChangeMembers Action = "change_members"
	// ChangeFactors adds and removes passkeys and the authenticator app, and makes recovery codes.
	ChangeFactors Action = "change_factors"
	// ChangeAddress changes an account's email address.
	ChangeAddress Action = "change_address"
	// Erase erases a connection, or deletes the organisation.
	Erase Action = "erase"
)

// Actions returns all actions in the order of the table in docs/adr/0036-the-dashboard.md.
func Actions() []Action {
	return []Action{
		CreateKey, RevealSecret, RotateSecret, AddWebhook, MoveWebhook, ChangeMembers, ChangeFactors,
		ChangeAddress, Erase,
	}
}

// NeedsProof reports whether an action in a mode needs a proof of identity that is at most 15 minutes old. The empty
// mode stands for paths without one. This table is the only one: an action that it does not list needs a proof.
func (a Action) NeedsProof(mode org.Mode) bool {
	if !slices.Contains(Actions(), a) {
		return true
	}
	return mode != org.Test || !slices.Contains([]Action{CreateKey, RotateSecret, AddWebhook, MoveWebhook}, a)
}
