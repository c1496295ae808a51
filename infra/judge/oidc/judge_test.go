// Package oidc_test lets an authorization server that other people wrote judge our SMART client: oidc-provider, started
// by server.mjs. It owns the judge's installation, its life and the patient's browser, and holds no opinion of its own:
// what it checks is that production code gets through, and that what must not work does not. The judge needs Node and
// npm; without them these tests are skipped. Nothing here is about health systems that break the rules: that is the
// sandbox's part (infra/sandbox).
package oidc_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"recordbridge/shared/safehttp"
	"recordbridge/shared/smart"
)

const (
	// installTime is what npm gets to fetch forty small packages.
	installTime = 5 * time.Minute
	// judgeTime is the longest life of a judge, so that one that hangs ends its test.
	judgeTime = 3 * time.Minute
)

// The judge is these three files; the tests run them from the cache, never from the checkout.
var (
	//go:embed package.json
	manifest []byte
	//go:embed package-lock.json
	lock []byte
	//go:embed server.mjs
	server string
)

// errAbsent says that this machine has no Node, which is no reason to fail.
var errAbsent = errors.New("the judge oidc-provider needs node and npm in PATH")

// installed returns the folder with the judge's node_modules, which is made once per machine and version.
var installed = sync.OnceValues(func() (string, error) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", fmt.Errorf("%w: %w", errAbsent, err)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	version := sha256.Sum256(append(bytes.Clone(manifest), lock...))
	place := filepath.Join(cache, "recordbridge-ci", "oidc", hex.EncodeToString(version[:8]))
	if isThere(place) {
		return place, nil
	}
	return place, settle(place)
})

func isThere(place string) bool {
	_, err := os.Stat(place)
	return err == nil
}

// settle installs the judge in a folder of its own, which then takes its place in one step, so that installations at the
// same time do not meet.
func settle(place string) error {
	all := filepath.Dir(place)
	if err := os.MkdirAll(all, 0o755); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(all, "installing-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(fresh) }() // nothing is there any more once it has taken its place
	if err = install(fresh); err != nil {
		return err
	}
	if err = os.Rename(fresh, place); err != nil && !isThere(place) {
		return err
	}
	return nil // another process may have been faster
}

// install has npm fetch exactly what the lock file names. Scripts of packages are not run.
func install(folder string) error {
	for name, content := range map[string][]byte{"package.json": manifest, "package-lock.json": lock} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), installTime)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir, npm.WaitDelay = folder, time.Second
	if output, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, output)
	}
	return nil
}

// settings is what server.mjs is told.
type settings struct {
	Clients         []registration `json:"clients"`
	AccessTokenLife int            `json:"accessTokenLife"` // seconds
	IdentityInToken bool           `json:"identityInToken"` // the id_token has fhirUser, as SMART wants it
}

// judge is a running authorization server with a FHIR server behind it.
type judge struct {
	Issuer   string `json:"issuer"`
	FHIRBase string `json:"fhir_base"`
	Patient  string `json:"patient"` // id of the one who signs in
}

// start runs a judge that knows the clients until the test ends.
func start(t *testing.T, clients ...registration) judge {
	t.Helper()
	return startWith(t, settings{Clients: clients, AccessTokenLife: 300, IdentityInToken: true})
}

func startWith(t *testing.T, told settings) judge {
	t.Helper()
	place, err := installed()
	if errors.Is(err, errAbsent) || err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	must(t, err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), judgeTime)
	t.Cleanup(cancel)
	node := exec.CommandContext(ctx, "node", "--input-type=module", "--eval", server) // modules are sought in Dir
	var complaints bytes.Buffer
	node.Dir, node.Stderr, node.WaitDelay = place, &complaints, time.Second
	input, err := node.StdinPipe()
	must(t, err)
	output, err := node.StdoutPipe()
	must(t, err)
	must(t, node.Start())
	t.Cleanup(func() {
		_ = input.Close() // which ends the judge
		if ended := node.Wait(); ended != nil {
			t.Errorf("the judge did not end well: %v", ended)
		}
		if t.Failed() {
			t.Logf("the judge said:\n%s", complaints.Bytes())
		}
	})
	must(t, json.NewEncoder(input).Encode(told))
	line, err := bufio.NewReader(output).ReadBytes('\n')
	must(t, err)
	var j judge
	must(t, json.Unmarshal(line, &j))
	return j
}

// portal is our client as production has it, which may reach this machine.
func portal() smart.Portal {
	return smart.Portal{Doer: doer(), Random: rand.Reader, Now: time.Now}
}

func doer() smart.Doer {
	return safehttp.New(safehttp.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
