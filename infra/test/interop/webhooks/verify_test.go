// Package webhooks_test verifies the service's webhook signatures with third-party code in verify.mjs: the official
// library for Node and Node's crypto module. The deliveries come from the production worker, editor and stores on the
// embedded AWS. If Node is missing, the tests are skipped. The official Go library is used in the tests of
// shared/webhook.
package webhooks_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/test/interop/npm"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/secret"
)

// The judge's files. Tests run copies of the judge's files, never those in the checkout.
var (
	//go:embed package.json
	manifest []byte
	//go:embed package-lock.json
	lock []byte
	//go:embed verify.mjs
	script string
)

// received is a delivery together with the key that the receiver uses to verify it.
type received struct {
	Key     string            `json:"key"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// claim is a delivery with the expected result of its verification.
type claim struct {
	received

	name  string
	holds bool
}

func (p post) with(name, key string, holds bool) claim {
	return claim{name: name, received: received{Key: key, Headers: p.header, Body: p.body}, holds: holds}
}

// judge verifies the deliveries of all claims in a single Node process.
func judge(t *testing.T, claims []claim) {
	t.Helper()
	place, err := npm.Installed("webhooks", manifest, lock)
	if npm.MaySkip(err) {
		t.Skip(err)
	}
	expect.NoError(t, err)
	all := make([]received, 0, len(claims))
	for _, c := range claims {
		all = append(all, c.received)
	}
	asked, err := json.Marshal(all)
	expect.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	node := exec.CommandContext(ctx, "node", "--input-type=module", "--eval", script) // Node resolves modules in Dir
	var complaints bytes.Buffer
	node.Dir, node.Stdin, node.Stderr, node.WaitDelay = place, bytes.NewReader(asked), &complaints, time.Second
	output, err := node.Output()
	if err != nil {
		t.Fatalf("the judge: %v\n%s", err, complaints.Bytes())
	}
	var results []string
	expect.NoError(t, json.Unmarshal(output, &results))
	if len(results) != len(claims) {
		t.Fatalf("%d results on %d claims", len(results), len(claims))
	}
	for i, c := range claims {
		if got := results[i] == ""; got != c.holds {
			t.Errorf("%s: verifies is %v (%s), want %v", c.name, got, results[i], c.holds)
		}
	}
}

func TestNodeLibraryVerifiesEveryEventType(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub, text := w.subscribe(t)
	claims := make([]claim, 0, 2*len(webhook.Catalogue()))
	for _, kind := range webhook.Catalogue() {
		p := w.deliver(t, kind.Type)
		if !strings.Contains(p.header["Webhook-Signature"], " v1a,") {
			t.Errorf("%s has no v1a: %s", kind.Type, p.header["Webhook-Signature"])
		}
		name := string(kind.Type)
		claims = append(claims, p.with(name+" by its secret", text.Reveal(), true),
			p.with(name+" by its public key", sub.PublicKey, true))
	}
	judge(t, claims)
}

func TestNodeLibraryAcceptsEitherSecretDuringRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub, first := w.subscribe(t)
	sub, second := w.rotate(t, sub, time.Now().Add(-12*time.Hour))
	during := w.deliver(t, webhook.TestEvent)
	claims := make([]claim, 0, 7)
	claims = append(claims,
		during.with("the new secret", second.Reveal(), true), during.with("the old one", first.Reveal(), true),
		during.with("the public key", sub.PublicKey, true),
	)

	sub, third := w.rotate(t, sub, time.Now())
	during = w.deliver(t, webhook.ExportFailed)
	for name, text := range map[string]secret.Text{
		"the newest of three": third, "the second of three": second,
		"the oldest of three": first,
	} {
		claims = append(claims, during.with(name, text.Reveal(), true))
	}
	judge(t, append(claims, during.with("the public key after two rotations", sub.PublicKey, true)))
}

func TestNodeLibraryRejectsOldSecretAfterRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub, first := w.subscribe(t)
	sub, second := w.rotate(t, sub, time.Now().Add(-24*time.Hour))
	after := w.deliver(t, webhook.TestEvent)
	judge(t, []claim{
		after.with("the new secret", second.Reveal(), true), after.with("the old one", first.Reveal(), false),
		after.with("the public key", sub.PublicKey, true),
	})
}

func TestNodeLibraryRejectsModifiedDelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub, text := w.subscribe(t)
	p := w.deliver(t, webhook.SupportRequested)
	other := "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 32)))
	changed := p
	changed.body = strings.Replace(p.body, "example", "Example", 1)
	if changed.body == p.body {
		t.Fatal("the body was not changed")
	}
	moved := p.saying("Webhook-Id", "0c000000-0000-4000-8000-000000000009")
	later := p.saying("Webhook-Timestamp", "1")
	claims := make([]claim, 0, 9)
	claims = append(claims, p.with("another's secret", other, false))
	for name, forged := range map[string]post{"another body": changed, "another id": moved, "another time": later} {
		claims = append(claims, forged.with(name, text.Reveal(), false), forged.with(name+", v1a", sub.PublicKey, false))
	}
	// A v1 signature must not be accepted as a v1a signature, or vice versa.
	v1, v1a, _ := strings.Cut(p.header["Webhook-Signature"], " ")
	claims = append(claims,
		p.saying("Webhook-Signature", v1).with("v1 alone, by the public key", sub.PublicKey, false),
		p.saying("Webhook-Signature", v1a).with("v1a alone, by the secret", text.Reveal(), false),
	)
	judge(t, claims)
}
