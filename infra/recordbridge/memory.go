package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/secret"
)

// memory holds the values kept between runs for one API and public ID: the receiver's URL, its temporary secret, and
// the position in the feed.
type memory struct {
	URL    string `json:"url"`
	Secret string `json:"secret"`
	After  string `json:"after"`

	path string
}

// recall reads the memory, or creates one with a new secret.
func (t tool) recall(a account) (memory, error) {
	folder := t.getenv("RECORDBRIDGE_STATE")
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return memory{}, err
		}
		folder = filepath.Join(cache, "recordbridge")
	}
	name := sha256.Sum256([]byte(a.baseURL + " " + a.publicID))
	m := memory{path: filepath.Join(folder, "listen-"+hex.EncodeToString(name[:8])+".json")}
	text, err := os.ReadFile(m.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		made, failure := webhook.NewSecret(rand.Reader)
		m.Secret = made.Reveal()
		return m, failure
	case err != nil:
		return memory{}, err
	}
	if err = json.Unmarshal(text, &m); err != nil {
		return memory{}, fmt.Errorf("read %s (delete the file to start again): %w", m.path, err)
	}
	return m, nil
}

// keep writes the memory to a file that only the user can read.
func (m memory) keep() error {
	text, err := json.Marshal(m) //nolint:gosec // the secret signs only events sent to this machine
	if err != nil {
		return err
	}
	if err = os.MkdirAll(filepath.Dir(m.path), 0o700); err != nil {
		return err
	}
	// Several processes may keep the same memory at once, so each writes a file of its own first.
	written, err := os.CreateTemp(filepath.Dir(m.path), "listen-*.new")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(written.Name()) }() // fails if the file was renamed
	_, err = written.Write(text)
	if err = errors.Join(err, written.Close()); err != nil {
		return err
	}
	return os.Rename(written.Name(), m.path)
}

func (m memory) receiver() receiver { return receiver{url: m.URL, secret: secret.New(m.Secret)} }
