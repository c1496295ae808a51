package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
	"sync"
)

// maxKeys exceeds the number of keys that all services need in a day. The cache is cleared when full, which happens
// only in tests that simulate years.
const maxKeys = 64

// signingKeys caches derived keys. Deriving a key accounts for four of the five HMACs of a signature, and each key is
// valid for a day.
type signingKeys struct {
	mu   sync.RWMutex
	keys map[keyID][]byte
}

type keyID struct{ secret, scope string }

// of derives a secret's signing key for a scope of the form date/region/service/aws4_request. Callers must check the
// scope first, so that requests can't fill the cache with invalid scopes.
func (s *signingKeys) of(secret, scope string) []byte {
	id := keyID{secret, scope}
	s.mu.RLock()
	key, known := s.keys[id]
	s.mu.RUnlock()
	if known {
		return key
	}
	key = []byte("AWS4" + secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = sign(key, part)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil || len(s.keys) >= maxKeys {
		s.keys = map[keyID][]byte{}
	}
	s.keys[id] = key
	return key
}

func sign(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
