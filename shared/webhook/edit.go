package webhook

import (
	"context"
	"maps"
	"slices"
	"time"

	"recordbridge/shared/words/secret"
)

// Edit describes a change to a subscription. Nil fields are left unchanged.
type Edit struct {
	Headers    map[string]string // replaces all custom headers; empty removes them
	Rate       *int              // attempts per second; 0 for the default
	Note       *string
	SigningKey *bool // if true, adds a signature with a new ed25519 key; if false, removes the signature
}

// Edited returns a subscription with a change applied. It returns fault.Invalid if the change is not acceptable.
func (e Editor) Edited(ctx context.Context, s Subscription, to Edit) (Subscription, error) {
	if to.Note != nil {
		s.Note = *to.Note
	}
	if to.Rate != nil {
		s.Rate = *to.Rate
	}
	if err := checkRate(s.Rate); err != nil {
		return Subscription{}, err
	}
	if to.Headers == nil && to.SigningKey == nil {
		return s, nil
	}
	k, err := s.open(ctx, e.Vault, e.Now())
	if err != nil {
		return Subscription{}, err
	}
	s.Secrets = slices.DeleteFunc(slices.Clone(s.Secrets), func(old SealedSecret) bool { return !old.isLive(e.Now()) })
	if to.Headers != nil {
		before := k.private.Headers
		if k.private.Headers, err = checkHeaders(to.Headers); err != nil {
			return Subscription{}, err
		}
		if !maps.Equal(before, k.private.Headers) {
			s.HeaderRev++
		}
		s.HeaderNames = slices.Sorted(maps.Keys(k.private.Headers))
	}
	if to.SigningKey != nil {
		k.private.SigningKey, s.PublicKey = "", ""
		if *to.SigningKey {
			if k.private.SigningKey, s.PublicKey, err = newSigningKey(e.Random); err != nil {
				return Subscription{}, err
			}
		}
	}
	return e.seal(ctx, s, k)
}

// Revealed is a decrypted signing secret that is still active.
type Revealed struct {
	Secret    secret.Text
	ExpiresAt time.Time // zero for the current secret
}

// Reveal decrypts a subscription's active signing secrets, newest first.
func (e Editor) Reveal(ctx context.Context, s Subscription) ([]Revealed, error) {
	now := e.Now()
	k, err := s.open(ctx, e.Vault, now)
	if err != nil {
		return nil, err
	}
	live := slices.DeleteFunc(slices.Clone(s.Secrets), func(old SealedSecret) bool { return !old.isLive(now) })
	shown := make([]Revealed, len(live))
	for i, text := range k.secrets {
		shown[i] = Revealed{Secret: text, ExpiresAt: live[i].ExpiresAt}
	}
	return shown, nil
}
