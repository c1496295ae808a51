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
	_ "embed"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"os/exec"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/test/interop/npm"
	"recordbridge/shared/catalog"
	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/safehttp"
	"recordbridge/shared/smart"
)

// judgeTime is the longest life of a judge, so that one that hangs ends its test.
const judgeTime = 3 * time.Minute

// The judge is these three files; the tests run them from the cache, never from the checkout.
var (
	//go:embed package.json
	manifest []byte
	//go:embed package-lock.json
	lock []byte
	//go:embed server.mjs
	server string
)

// installed returns the folder with the judge's node_modules.
var installed = sync.OnceValues(func() (string, error) { return npm.Installed("oidc", manifest, lock) })

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
	if npm.MaySkip(err) {
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

// ourSide is both halves of our client as production has them.
type ourSide struct {
	smart.Authorizer
	smart.Portal

	clients smart.Clients
}

// portal is our side for public clients, which may reach this machine.
func portal() ourSide { return portalWith(noClients{}) }

func portalWith(clients smart.Clients) ourSide {
	return ourSide{smart.NewAuthorizer(doer(), rand.Reader, time.Now), smart.NewPortal(doer(), clients, noEndpoints{}, time.Now), clients}
}

type noClients struct{}

func (noClients) Authenticate(context.Context, org.Tenant, catalog.ClientUse, url.Values, http.Header) error {
	return errors.New("nothing is at hand to authenticate with")
}

type noEndpoints struct{}

func (noEndpoints) Endpoint(context.Context, string) (catalog.Endpoint, error) {
	return catalog.Endpoint{}, fault.Missing("There is no such endpoint.")
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
