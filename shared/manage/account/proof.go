package account

import (
	"slices"

	"recordbridge/shared/words/org"
)

// Action is an operation, by a member or on an account, that may require a recent proof of identity (docs/openapi.yaml,
// x-proof).
type Action string

// Actions that may require a proof of identity.
const (
	// CreateKey is the action of creating a credential or a key for a credential.
	CreateKey Action = "create_key"
	// RevealSecret is the action of showing a webhook's signing secrets.
	RevealSecret Action = "reveal_secret"
	// RotateSecret is the action of replacing a webhook's signing secret. The response contains the new secret.
	RotateSecret Action = "rotate_secret"
	// AddWebhook is the action of creating a webhook.
	AddWebhook Action = "add_webhook"
	// MoveWebhook is the action of changing a webhook's URL.
	MoveWebhook Action = "move_webhook"
	// ChangeMembers is the action of changing roles, removing members, or creating or withdrawing invitations.
	ChangeMembers Action = "change_members"
	// ChangeFactors covers adding or removing a passkey or authenticator app, and creating recovery codes.
	ChangeFactors Action = "change_factors"
	// ChangeAddress is the action of changing an account's email address.
	ChangeAddress Action = "change_address"
	// Erase is the action of erasing a connection or deleting the organisation.
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
// mode is for paths that have no mode. An action not listed below requires a proof of identity.
func (a Action) NeedsProof(mode org.Mode) bool {
	if !slices.Contains(Actions(), a) {
		return true
	}
	return mode != org.Test || !slices.Contains([]Action{CreateKey, RotateSecret, AddWebhook, MoveWebhook}, a)
}
