package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Keyring holds numbered versions of a key that serves one purpose, such as key hashing, cursors or download tokens.
// Each MAC records its key version, so that older MACs can still be checked after a rotation
// (docs/develop/architecture.md, "Keys and secrets").
type Keyring struct {
	current int
	keys    map[int]Text
}

// minKey is the minimum length of a key in bytes. 43 base62 characters encode 256 bits.
const minKey = 32

// ParseKeyring parses a keyring from the JSON document of a Secrets Manager secret:
// {"current":"2","1":"<key>","2":"<key>"}.
func ParseKeyring(document Text) (Keyring, error) {
	var fields map[string]string
	if err := json.Unmarshal([]byte(document.Reveal()), &fields); err != nil {
		return Keyring{}, errors.New("keyring: not a JSON object of strings")
	}
	ring := Keyring{keys: map[int]Text{}}
	for name, value := range fields {
		number, err := strconv.Atoi(value)
		if name == "current" && err == nil {
			ring.current = number
			continue
		}
		version, err := strconv.Atoi(name)
		if err != nil || version < 1 {
			return Keyring{}, fmt.Errorf("keyring: %q is not a version number", name)
		}
		if len(value) < minKey {
			return Keyring{}, fmt.Errorf("keyring: version %d is shorter than %d bytes", version, minKey)
		}
		ring.keys[version] = New(value)
	}
	if ring.keys[ring.current].Empty() {
		return Keyring{}, fmt.Errorf("keyring: current version %d has no key", ring.current)
	}
	return ring, nil
}

// Mark is an HMAC together with the version of its key.
type Mark struct {
	Version int
	Sum     []byte // HMAC-SHA256, 32 bytes
}

// Current returns the version of the key that Sign uses.
func (k Keyring) Current() int { return k.current }

// Sign returns the HMAC-SHA256 of message under the current key version.
func (k Keyring) Sign(message []byte) Mark {
	return Mark{Version: k.current, Sum: sum(k.keys[k.current], message)}
}

// SignAs returns the HMAC-SHA256 of message under the given key version. ok is false if the version does not exist.
func (k Keyring) SignAs(version int, message []byte) (mark Mark, ok bool) {
	key, ok := k.keys[version]
	if !ok {
		return Mark{}, false
	}
	return Mark{Version: version, Sum: sum(key, message)}, true
}

// IsRetired reports whether version is older than the current version and has been removed.
func (k Keyring) IsRetired(version int) bool {
	_, ok := k.keys[version]
	return !ok && version > 0 && version < k.current
}

// Check reports whether mark is the HMAC of message under mark's key version. Check runs in constant time.
func (k Keyring) Check(message []byte, mark Mark) bool {
	key, ok := k.keys[mark.Version]
	return ok && subtle.ConstantTimeCompare(sum(key, message), mark.Sum) == 1
}

// Derive returns a 32-byte key for the named use, derived from the given key version. Version zero means the current
// version. used is the version that was applied. ok is false if the version does not exist.
func (k Keyring) Derive(use string, version int) (key []byte, used int, ok bool) {
	if version == 0 {
		version = k.current
	}
	base, ok := k.keys[version]
	if !ok {
		return nil, 0, false
	}
	return sum(base, []byte("recordbridge derive "+use)), version, true
}

func sum(key Text, message []byte) []byte {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write(message)
	return mac.Sum(nil)
}
