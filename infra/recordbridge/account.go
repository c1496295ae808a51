package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"recordbridge/infra/local/runfile"
)

// account is a test-mode key pair and the API's base URL.
type account struct {
	baseURL, publicID, privateKey string
}

// declareAccount adds the flag that names a run file, and returns a function that reads the account after parsing.
func (t tool) declareAccount(flags *flag.FlagSet) func() (account, error) {
	file := flags.String("run-file", ".local/run.json",
		"`file` that make run wrote, used unless RECORDBRIDGE_URL is set")
	return func() (account, error) {
		a := account{
			baseURL:  strings.TrimRight(t.getenv("RECORDBRIDGE_URL"), "/"),
			publicID: t.getenv("RECORDBRIDGE_PUBLIC_ID"), privateKey: t.getenv("RECORDBRIDGE_PRIVATE_KEY"),
		}
		if a.baseURL == "" {
			var err error
			if a, err = ofRunFile(*file); err != nil {
				return account{}, err
			}
		}
		if a.publicID == "" || a.privateKey == "" {
			return account{}, errors.New("RECORDBRIDGE_PUBLIC_ID and RECORDBRIDGE_PRIVATE_KEY must be set")
		}
		// Events of live mode concern real patients, whose data must not reach a development machine.
		if strings.HasPrefix(a.publicID, "public_live_") || strings.HasPrefix(a.privateKey, "private_live_") {
			return account{}, errors.New("this is a live-mode key; use a test-mode key")
		}
		return a, nil
	}
}

func ofRunFile(path string) (account, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the developer names the file
	if errors.Is(err, fs.ErrNotExist) {
		return account{}, fmt.Errorf("no %s: start make run in this folder, or set RECORDBRIDGE_URL and the key pair", path)
	}
	if err != nil {
		return account{}, err
	}
	var run runfile.Run
	if err = json.Unmarshal(text, &run); err != nil {
		return account{}, fmt.Errorf("read %s: %w", path, err)
	}
	for _, o := range run.Organisations {
		if !strings.HasPrefix(o.PublicID, "public_live_") {
			return account{baseURL: run.BaseURL, publicID: o.PublicID, privateKey: o.PrivateKey}, nil
		}
	}
	return account{}, fmt.Errorf("%s has no test-mode key", path)
}
