package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
	"sync"
)

// maxKeys is more than a day's keys of all services; a test that lives through years starts again from time to time.
const maxKeys = 64

// signingKeys keeps derived keys: deriving one takes four of the five HMACs of a signature, and it serves a whole day.
type signingKeys struct {
	mu   sync.RWMutex
	keys map[keyID][]byte
}

type keyID struct{ secret, scope string }

// of derives the key that the secret has in a scope, date/region/service/aws4_request. The scope must be checked
// before, so that nobody can fill the memory with scopes that do not exist.
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
