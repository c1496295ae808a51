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

// Keyring holds the numbered versions of one purpose's key (key hashing, cursors, download tokens). The version stands
// beside whatever it made, so old marks stay checkable after a rotation (docs/develop/architecture.md, "Keys and secrets").
type Keyring struct {
	current int
	keys    map[int]Text
}

// minKey is the least length of a key in bytes: 43 base62 characters carry 256 bits.
const minKey = 32

// ParseKeyring reads the JSON document of a Secrets Manager secret: {"current":"2","1":"<key>","2":"<key>"}.
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

// Mark is a keyed hash together with the key version that made it.
type Mark struct {
	Version int
	Sum     []byte // 32 bytes
}

// Current is the version that new marks are made with.
func (k Keyring) Current() int { return k.current }

// Sign returns the HMAC-SHA256 of message under the current version.
func (k Keyring) Sign(message []byte) Mark {
	return Mark{Version: k.current, Sum: sum(k.keys[k.current], message)}
}

// SignAs returns the HMAC-SHA256 of message under a version; ok is false when there is no such version.
func (k Keyring) SignAs(version int, message []byte) (mark Mark, ok bool) {
	key, ok := k.keys[version]
	if !ok {
		return Mark{}, false
	}
	return Mark{Version: version, Sum: sum(key, message)}, true
}

// IsRetired reports a version that was used before the current one and is no longer there.
func (k Keyring) IsRetired(version int) bool {
	_, ok := k.keys[version]
	return !ok && version > 0 && version < k.current
}

// Check reports in constant time whether mark was made of message by one of the versions.
func (k Keyring) Check(message []byte, mark Mark) bool {
	key, ok := k.keys[mark.Version]
	return ok && subtle.ConstantTimeCompare(sum(key, message), mark.Sum) == 1
}

// Derive returns a 32-byte key of its own for a named use, of the given version, or of the current one when
// version is zero. It also returns the version used; ok is false when there is no such version.
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
