package account

import (
	"slices"

	"recordbridge/shared/words/org"
)

// Action identifies an operation, by a member or on an account, that may require a recent proof of identity
// (docs/openapi.yaml, x-proof).
type Action string

// Actions that may require a proof of identity.
const (
	// CreateKey is the creation of a credential, or of a credential's key.
	CreateKey Action = "create_key"
	// RevealSecret is the action of showing a webhook's signing secrets.
	RevealSecret Action = "reveal_secret"
	// RotateSecret is the replacement of a webhook's signing secret. The response contains the new secret.
	RotateSecret Action = "rotate_secret"
	// AddWebhook is the creation of a webhook.
	AddWebhook Action = "add_webhook"
	// MoveWebhook is a change of a webhook's URL.
	MoveWebhook Action = "move_webhook"
	// ChangeMembers is a change of roles, the removal of members, or the creation or withdrawal of invitations.
	ChangeMembers Action = "change_members"
	// ChangeFactors is the addition or removal of passkeys or of the authenticator app, or the creation of recovery
	// codes.
	ChangeFactors Action = "change_factors"
	// ChangeAddress is a change of an account's email address.
	ChangeAddress Action = "change_address"
	// Erase is the erasure of a connection, or the deletion of the organisation.
	Erase Action = "erase"
)

// Actions returns all actions, in the order of the table in docs/adr/0036-the-dashboard.md.
func Actions() []Action {
	return []Action{
		CreateKey, RevealSecret, RotateSecret, AddWebhook, MoveWebhook, ChangeMembers, ChangeFactors,
		ChangeAddress, Erase,
	}
}

// NeedsProof reports whether an action in a mode requires a proof of identity that is at most 15 minutes old. The empty
// mode stands for paths without a mode. NeedsProof contains the only such table, and an action that the table does not
// list requires a proof.
func (a Action) NeedsProof(mode org.Mode) bool {
	if !slices.Contains(Actions(), a) {
		return true
	}
	return mode != org.Test || !slices.Contains([]Action{CreateKey, RotateSecret, AddWebhook, MoveWebhook}, a)
}
