package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog"
	"recordbridge/shared/words/org"
)

// stored reads the stack's rows as its functions do.
type stored struct {
	config  aws.Config
	outputs map[string]string
	control store.Control
}

func openStored(t *testing.T, file string) stored {
	t.Helper()
	outputs := outputsOf(t, file)
	cfg, err := awsconfig.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return stored{
		config: cfg, outputs: outputs,
		control: store.Control{DB: store.NewClient(cfg), Table: outputs["ControlTable"]},
	}
}

func (s stored) client(t *testing.T, owner org.Tenant, id string) (catalog.ClientAuth, string) {
	t.Helper()
	found, err := store.Clients(s.control).ClientAuthOf(t.Context(), owner, id)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Secret) == 0 {
		return found, ""
	}
	key := kms.SecretsKey(s.outputs["SecretsKey"])
	sealer := kms.New(awskms.NewFromConfig(s.config), key, catalog.ClientSecretPurpose, time.Now)
	plain, err := sealer.Open(t.Context(), owner, found.SecretBinding(), found.Secret)
	if err != nil {
		t.Fatal(err)
	}
	return found, string(plain)
}

// audited returns the actions and targets of a tenant's audit rows in order. The zero tenant selects the rows that
// belong to no tenant.
func (s stored) audited(t *testing.T, tenant org.Tenant) []string {
	t.Helper()
	all, next, err := wiring.AuditLog(s.config, s.outputs).List(t.Context(), tenant.OrgID, 0, 100)
	if err != nil || next != 0 {
		t.Fatalf("%v, more from %d", err, next)
	}
	rows := make([]string, 0, len(all))
	for _, row := range slices.Backward(all) {
		if row.Tenant == tenant {
			rows = append(rows, row.Action+" "+row.Target)
		}
	}
	return rows
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// shows reports whether text contains the secret, either in plain text or in base64 at any offset.
func shows(text, secret string) bool {
	if strings.Contains(text, secret) {
		return true
	}
	for offset := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", offset) + secret))
		// The first and last base64 characters depend on the bytes adjacent to the secret.
		if strings.Contains(text, encoded[4:len(encoded)-4]) {
			return true
		}
	}
	return false
}

func TestClientSecretIsEncryptedAndNeverPrinted(t *testing.T) {
	outputs, sent := newRecordedStack(t, "")
	const first, second = "first-secret-of-Alder Hospital", "second+secret/of=Alder~Hospital"
	var seen []string
	attempt := func(input string, args ...string) map[string]any {
		t.Helper()
		printed, err := ctlWith(t, outputs, input, args...)
		seen = append(seen, fmt.Sprint(printed), fmt.Sprint(err))
		return printed
	}
	id, _ := attempt("", "organisation", "create", "-name", "Alder Clinic App")["id"].(string)
	tenant := org.Tenant{Mode: org.Live, OrgID: id}
	shared, _ := attempt(first+"\r\n", "client", "create", "-method", "client_secret_basic", "-secret-file", "-",
		"-origin", "https://sandbox.bluebutton.cms.gov")["client_auth_id"].(string)
	own, _ := attempt("", "client", "create", "-method", "client_secret_post", "-secret-file", writeFile(t, first+"\n"),
		"-origin", "https://a.example", "-org", id, "-mode", "live")["client_auth_id"].(string)
	if rotated := attempt(second, "client", "rotate", "-id", own, "-secret-file", "-", "-org", id, "-mode",
		"live"); rotated["client_auth_id"] != own {
		t.Errorf("rotating gave %v, want the id as it was", rotated)
	}
	attempt("", "registration", "set", "-platform", "medicare", "-mode", "live", "-client-id", "client",
		"-client-auth", shared)
	if shown := attempt("", "registration", "show", "-platform", "medicare", "-mode",
		"live"); shown["method"] != "client_secret_basic" {
		t.Errorf("the registration is %v", shown)
	}
	for _, refused := range [][]string{
		{"client", "create", "-method", "private_key_jwt", "-secret-file", "-"},
		{"client", "create", "-method", "client_secret_jwt", "-secret-file", "-"},
		{"client", "create", "-method", "client_secret_basic", "-key-id", "key", "-secret-file", "-"},
		{"client", "create", "-method", "client_secret_basic", "-secret-file", first},
		{"client", "create", "-method", "client_secret_basic", "-secret-file", "-", first},
		{"client", "create", "-method", "client_secret_basic", "-secret=" + first},
		{"client", "create", "-method", "client_secret_basic", "-secret-file", writeFile(t, "user: alder\n"+first)},
		{"client", "rotate", "-id", shared, "-secret-file", writeFile(t, first+"\nx")},
		{"client", "rotate", "-id", own, "-secret-file", "-"},
	} {
		if printed := attempt(first, refused...); printed != nil {
			t.Errorf("%v was accepted", refused)
		}
	}
	// Stop recording before the test reads any secrets itself.
	record := strings.Join(seen, "\n") + sent.all()
	for _, secret := range []string{first, second} {
		if shows(record, secret) {
			t.Errorf("%q was printed or left the command unsealed", secret)
		}
	}
	found := openStored(t, outputs)
	if a, plain := found.client(t, org.Tenant{}, shared); plain != first || a.Rev != 1 {
		t.Errorf("everybody's is %q, revision %d", plain, a.Rev)
	}
	if a, plain := found.client(t, tenant, own); plain != second || a.Rev != 2 || a.Method != catalog.AuthSecretPost {
		t.Errorf("the organisation's is %q, revision %d, method %s", plain, a.Rev, a.Method)
	}
	if got, want := found.audited(t, tenant),
		[]string{"organisation.created " + id, "client.created " + own, "client.rotated " + own}; !slices.Equal(got, want) {
		t.Errorf("the audit rows are %q, want %q", got, want)
	}
}

func TestLeakCheckFindsPlainAndBase64Secrets(t *testing.T) {
	t.Parallel()
	const secret = "first-secret-of-Alder"
	for _, before := range []string{"", "a", "ab", "abc"} {
		leak := base64.StdEncoding.EncodeToString([]byte(before + secret + "tail"))
		if !shows(`{"B":"`+leak+`"}`, secret) {
			t.Errorf("%s after %q is not found", leak, before)
		}
	}
	if !shows("x"+secret, secret) || shows("x", secret) {
		t.Error("clear text is not told from other text")
	}
}

func TestClientRotateKeepsID(t *testing.T) {
	outputs := newStack(t)
	done := doer(t, outputs)
	id, _ := done("client", "create", "-method", "private_key_jwt", "-key-id", "one")["client_auth_id"].(string)
	for _, step := range []struct{ rotate, want string }{{"two", "two"}, {"", ""}} {
		done("client", "rotate", "-id", id, "-key-id", step.rotate)
		if a, _ := openStored(t, outputs).client(t, org.Tenant{}, id); a.KeyID != step.want || a.Algorithm != "RS384" {
			t.Errorf("after a rotation to %q the client is %+v", step.rotate, a)
		}
	}
}

func TestClientErrorsSuggestRemedy(t *testing.T) {
	outputs := newStack(t)
	done := doer(t, outputs)
	key, _ := done("client", "create", "-method", "private_key_jwt", "-algorithm", "ES384")["client_auth_id"].(string)
	printed, err := ctlWith(t, outputs, "secret", "client", "create", "-method", "client_secret_basic", "-secret-file",
		"-", "-origin", "https://a.example")
	if err != nil {
		t.Fatal(err)
	}
	withSecret, _ := printed["client_auth_id"].(string)
	unknown := "00000000-0000-4000-8000-000000000000"
	for _, test := range []struct {
		args string
		want string
	}{
		{"client create", "-method is required"},
		{"client create -method basic", "-method: svc_invalid_request: The method must be client_secret_basic"},
		{"client create -method public", "public client, set the registration"},
		{"client create -method client_secret_basic", "requires a client secret"},
		{"client create -method client_secret_basic -secret-file -", "requires a client secret"},
		{
			"client create -method client_secret_post -secret-file " + filepath.Join(t.TempDir(), "none"),
			"can't read the file",
		},
		{"client create -method client_secret_post -secret-file " + t.TempDir(), "read -secret-file"},
		{"client create -method client_secret_post -secret-file " + writeFile(t, "\n"), "requires a client secret"},
		{
			"client create -method client_secret_post -secret-file " + writeFile(t, strings.Repeat("x", 4097)),
			"exceeds 4096 bytes",
		},
		{
			"client create -method client_secret_post -secret-file " + writeFile(t, "Ahornblätter"),
			"contains invalid characters",
		},
		{
			"client create -method client_secret_post -algorithm RS384 -secret-file " + writeFile(t, "x"),
			"doesn't use an algorithm",
		},
		{"client create -method private_key_jwt -algorithm HS256", "RS384 or ES384"},
		{"client create -method private_key_jwt -key-id a\tb", "key ID"},
		{"client create -method private_key_jwt -mode live", "-mode requires -org"},
		{"client create -method private_key_jwt -org nobody", "no organisation has this ID or name"},
		{"client create -method private_key_jwt -org " + unknown, "not found"},
		{"client create -method client_secret_post -secret-file " + writeFile(t, "x"), "needs the origins"},
		{"client create -method client_secret_post -origin a.example -secret-file " + writeFile(t, "x"), "is not an origin"},
		{"client create -method client_secret_post -origin https://a.example/token -secret-file " +
			writeFile(t, "x"), "no path"},
		{"client create -method client_secret_post -origin http://a.example -secret-file " + writeFile(t, "x"), "not https"},
		{"client set -id " + withSecret, "-origin is required"},
		{"client set -id " + unknown + " -origin https://a.example", "not found for"},
		{"client rotate -id " + unknown + " -key-id one", "not found for"},
		{"client rotate -id " + key + " -key-id one -mode test -org " + unknown, "not found for"},
		{"client rotate -id " + key, "the key that signs"},
		{"client rotate -id " + key + " -secret-file " + writeFile(t, "x"), "doesn't use a client secret"},
		{"client rotate -id " + withSecret, "requires a client secret"},
		{"client rotate -id " + withSecret + " -key-id one", "Rotate its secret with -secret-file"},
	} {
		if _, err := ctl(t, outputs, strings.Split(test.args, " ")...); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.args, err, test.want)
		}
	}
}
