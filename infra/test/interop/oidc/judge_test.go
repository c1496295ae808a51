// Package oidc_test uses a third-party authorization server (the judge) to test the SMART client and the
// identity-provider relying party. The judge is oidc-provider, started by server.mjs. The package installs and runs the
// judge, simulates the patient's browser, and checks that production code succeeds and that invalid requests fail. The
// tests are skipped if Node or npm is not installed. The sandbox (infra/sandbox) simulates health systems that violate
// the standards.
package oidc_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/test/interop/npm"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// The judge's files. Tests run copies of the judge's files, never those in the checkout.
var (
	//go:embed package.json
	manifest []byte
	//go:embed package-lock.json
	lock []byte
	//go:embed server.mjs
	server string
)

var installed = sync.OnceValues(func() (string, error) { return npm.Installed("oidc", manifest, lock) })

// settings holds server.mjs's parameters.
type settings struct {
	Clients         []registration `json:"clients"`
	AccessTokenLife int            `json:"accessTokenLife"` // in seconds
	IdentityInToken bool           `json:"identityInToken"` // whether the id_token contains fhirUser, as SMART requires
}

// judge is a running authorization server with a FHIR server that accepts its tokens.
type judge struct {
	Issuer   string `json:"issuer"`
	FHIRBase string `json:"fhir_base"`
	Patient  string `json:"patient"` // ID of the patient who signs in
}

// start returns a judge with the given clients. Tests with the same clients can share a judge because each test uses
// separate grants.
func start(t *testing.T, clients ...registration) judge {
	t.Helper()
	told := settings{Clients: clients, AccessTokenLife: 300, IdentityInToken: true}
	key, err := json.Marshal(told)
	expect.NoError(t, err)
	started, _ := judges.LoadOrStore(string(key), sync.OnceValues(func() (*running, error) { return run(told) }))
	return ready(t, started.(func() (*running, error)))
}

// startWith starts a judge with the given settings, for use by the calling test only.
func startWith(t *testing.T, told settings) judge {
	t.Helper()
	own := sync.OnceValues(func() (*running, error) { return run(told) })
	judges.Store(&told, own)
	return ready(t, own)
}

func ready(t *testing.T, started func() (*running, error)) judge {
	t.Helper()
	r, err := started()
	if npm.MaySkip(err) {
		t.Skip(err)
	}
	expect.NoError(t, err)
	return r.judge
}

// judges caches this test run's judges by their settings, as func() (*running, error).
var judges sync.Map

// running is the process of a running judge.
type running struct {
	judge      judge
	complaints bytes.Buffer
	input      io.Closer // the process ends when its input is closed
	process    *exec.Cmd
}

func run(told settings) (*running, error) {
	place, err := installed()
	if err != nil {
		return nil, err
	}
	r := &running{process: exec.Command("node", "--input-type=module", "--eval", server)} // Node resolves modules in Dir
	r.process.Dir, r.process.Stderr, r.process.WaitDelay = place, &r.complaints, time.Second
	input, err := r.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	r.input = input
	output, err := r.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err = r.process.Start(); err != nil {
		return nil, err
	}
	if err = json.NewEncoder(input).Encode(told); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return r, json.Unmarshal(line, &r.judge)
}

// TestMain runs the tests and then stops the judges. Each judge must exit cleanly. If a test has failed, TestMain
// prints the judges' output.
func TestMain(m *testing.M) {
	code := m.Run()
	judges.Range(func(_, started any) bool {
		r, err := started.(func() (*running, error))()
		if err != nil {
			return true // the test has already reported the error
		}
		_ = r.input.Close()
		if err := r.process.Wait(); err != nil {
			fmt.Fprintf(os.Stderr, "a judge did not end well: %v\n", err)
			code = 1
		}
		if code != 0 {
			fmt.Fprintf(os.Stderr, "a judge said:\n%s\n", r.complaints.Bytes())
		}
		return true
	})
	os.Exit(code)
}

// ourSide is the service's side of a connection: its production portal client and client authentication.
type ourSide struct {
	smart.Authorizer
	smart.Portal

	clients smart.Clients
}

// portal returns the service's side for a public client. The returned portal may connect to the local machine.
func portal() ourSide { return portalWith(noClients{}) }

func portalWith(clients smart.Clients) ourSide {
	return ourSide{
		smart.NewAuthorizer(doer(), rand.Reader, time.Now),
		smart.NewPortal(doer(), clients, noEndpoints{}, time.Now), clients,
	}
}

type noClients struct{}

func (noClients) Authenticate(context.Context, org.Tenant, catalog.ClientUse, url.Values, http.Header) error {
	return errors.New("nothing is at hand to authenticate with")
}

type noEndpoints struct{}

func (noEndpoints) Endpoint(context.Context, string) (catalog.Endpoint, error) {
	return catalog.Endpoint{}, fault.Missing("Endpoint not found.")
}

func doer() smart.Doer {
	return safehttp.New(safehttp.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
}
