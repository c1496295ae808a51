package account

import (
	"time"

	"recordbridge/shared/secret"
)

// RecoveryCodes holds the keyed hashes of an account's unused recovery codes (docs/adr/0044-recovery-and-leaving.md).
type RecoveryCodes struct {
	Marks  []secret.Mark
	MadeAt time.Time
	Rev    int64 // compare-and-swap revision; 0 if the account never had codes
}
