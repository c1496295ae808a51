package cursor_test

import (
	"errors"
	"strings"
	"testing"

	"recordbridge/shared/words/cursor"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	orgA     = "0a000000-0000-4000-8000-00000000000a"
	use      = "events"
	position = "2026-03-04T05:06:07.123456Z#e0000000-0000-4000-8000-000000000001"
)

var (
	tenant = org.Tenant{Mode: org.Test, OrgID: orgA}
	first  = strings.Repeat("1", 43)
	second = strings.Repeat("2", 43)
)

func sealer(t *testing.T, document string) cursor.Sealer {
	t.Helper()
	ring, err := secret.ParseKeyring(secret.New(document))
	if err != nil {
		t.Fatal(err)
	}
	return cursor.Sealer{Keys: ring}
}

func one(t *testing.T) cursor.Sealer {
	t.Helper()
	return sealer(t, `{"current":"1","1":"`+first+`"}`)
}

func seal(t *testing.T, s cursor.Sealer, position string) string {
	t.Helper()
	text, err := s.Seal(tenant, use, position)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// wantRefused checks that Open rejects text, and that the error is the only one that Open can return.
func wantRefused(t *testing.T, s cursor.Sealer, of org.Tenant, use, text string) {
	t.Helper()
	got, err := s.Open(of, use, text)
	failure, ok := errors.AsType[*fault.Error](err)
	switch {
	case !ok || failure.Kind != fault.Invalid || got != "":
		t.Errorf("Open(%q) = %q, %v, want fault.Invalid", text, got, err)
	case failure.Error() != "svc_invalid_request: The cursor is not valid for this list." || failure.Unwrap() != nil:
		t.Errorf("Open(%q) tells %q because of %v", text, failure, failure.Unwrap())
	}
}

func TestCursorRoundTripsThroughSealAndOpen(t *testing.T) {
	t.Parallel()
	s := one(t)
	for _, position := range []string{"", "x", position, "Ünï\x00", strings.Repeat("long ", 200)} {
		got, err := s.Open(tenant, use, seal(t, s, position))
		if err != nil || got != position {
			t.Errorf("Open = %q, %v, want %q", got, err, position)
		}
	}
}

func TestCursorIsEncryptedAndURLSafe(t *testing.T) {
	t.Parallel()
	s := one(t)
	text := seal(t, s, position)
	if other := seal(t, s, position); other == text {
		t.Error("the same position has the same text twice: a nonce was used again")
	}
	body, isVersioned := strings.CutPrefix(text, "1.")
	if !isVersioned || strings.Trim(body, alphabet) != "" {
		t.Errorf("cursor %q, want 1.<base64url>", text)
	}
	if got, limit := len(text), len(position)*4/3+42; got > limit {
		t.Errorf("a cursor of %d characters, want at most %d", got, limit)
	}
}

func TestOpenRejectsModifiedCursor(t *testing.T) {
	t.Parallel()
	s := one(t)
	good := seal(t, s, position)
	for at := range good {
		for _, other := range "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.=+/ \n" {
			if changed := good[:at] + string(other) + good[at+1:]; changed != good {
				wantRefused(t, s, tenant, use, changed)
			}
		}
		wantRefused(t, s, tenant, use, good[:at])
		wantRefused(t, s, tenant, use, good[:at]+good[at+1:])
		wantRefused(t, s, tenant, use, good[at:]+good[:at]+"x")
	}
}

func TestOpenRejectsAlternativeSpellings(t *testing.T) {
	t.Parallel()
	s := one(t)
	for _, position := range []string{"", "x", "xy", position} { // every possible length of the last base64 group
		good := seal(t, s, position)
		body := strings.TrimPrefix(good, "1.")
		last := strings.IndexByte(alphabet, body[len(body)-1])
		for _, text := range []string{
			"", ".", "1", "1.", body, "." + body, "01." + body, "+1." + body, "-1." + body, " 1." + body, "1 ." + body,
			"1.0." + body, "0." + body,
			"2." + body, "99999999999999999999." + body, good + ".", good + "=", good + "==", good + "A", good + "AAAA",
			good + "\n", good + "\r\n",
			"\n" + good, "1.\n" + body, good[:9] + "\n" + good[9:], good + "\x00", good + " ", strings.ToUpper(good) + "x",
			good + "." + body, "1." + body + body,
		} {
			wantRefused(t, s, tenant, use, text)
		}
		for i := range alphabet { // unused bits of the last character must be zero
			if i != last {
				wantRefused(t, s, tenant, use, good[:len(good)-1]+alphabet[i:i+1])
			}
		}
	}
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func TestCursorIsBoundToTenantAndPurpose(t *testing.T) {
	t.Parallel()
	s := one(t)
	text := seal(t, s, position)
	for name, other := range map[string]struct {
		tenant org.Tenant
		use    string
	}{
		"another organisation":        {org.Tenant{Mode: org.Test, OrgID: "0b000000-0000-4000-8000-00000000000b"}, use},
		"the other mode":              {org.Tenant{Mode: org.Live, OrgID: orgA}, use},
		"no tenant":                   {org.Tenant{}, use},
		"another list":                {tenant, "catalog"},
		"no list":                     {tenant, ""},
		"a list in another spelling":  {tenant, "Events"},
		"parts that are cut elsewise": {org.Tenant{Mode: org.Test, OrgID: orgA + `" "` + use}, ""},
		"parts that are cut sooner":   {org.Tenant{Mode: org.Test}, orgA + `" "` + use},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantRefused(t, s, other.tenant, other.use, text)
		})
	}
}

func TestCursorStaysValidUntilKeyIsRemoved(t *testing.T) {
	t.Parallel()
	before := one(t)
	during := sealer(t, `{"current":"2","1":"`+first+`","2":"`+second+`"}`)
	after := sealer(t, `{"current":"2","2":"`+second+`"}`)
	old, fresh := seal(t, before, position), seal(t, during, position)
	if !strings.HasPrefix(old, "1.") || !strings.HasPrefix(fresh, "2.") {
		t.Errorf("cursors %q and %q, want versions 1 and 2", old, fresh)
	}
	for _, text := range []string{old, fresh} {
		if got, err := during.Open(tenant, use, text); err != nil || got != position {
			t.Errorf("during the rotation: %q, %v", got, err)
		}
	}
	if got, err := after.Open(tenant, use, fresh); err != nil || got != position {
		t.Errorf("after the rotation: %q, %v", got, err)
	}
	wantRefused(t, after, tenant, use, old)
	wantRefused(t, before, tenant, use, fresh)
	wantRefused(t, during, tenant, use, "2"+old[1:])
	wantRefused(t, during, tenant, use, "1"+fresh[1:])
	wantRefused(t, sealer(t, `{"current":"1","1":"`+second+`"}`), tenant, use, old)
}

func TestSealerFailsWithoutKeys(t *testing.T) {
	t.Parallel()
	var s cursor.Sealer
	if text, err := s.Seal(tenant, use, position); err == nil || errors.Is(err, fault.Invalid) || text != "" {
		t.Errorf("Seal = %q, %v, want a failure of our own", text, err)
	}
	wantRefused(t, s, tenant, use, seal(t, one(t), position))
}
