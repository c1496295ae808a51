package org_test

import (
	"crypto/rand"
	"regexp"
	"strings"
	"testing"

	"recordbridge/shared/words/org"
)

const (
	// sampleKey has a checksum that was computed independently, with zlib's crc32.
	sampleKey  = "private_test_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg27BaWM"
	credential = "5c000000-0000-4000-8000-00000000abcd"
)

func newKey(t *testing.T, mode org.Mode) string {
	t.Helper()
	key, err := org.NewPrivateKey(mode, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key.Reveal()
}

func TestParsePrivateKeyAcceptsNewPrivateKey(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^private_(test|live)_[0-9A-Za-z]{49}$`)
	seen := map[string]bool{}
	for _, mode := range []org.Mode{org.Test, org.Live} {
		for range 200 {
			key := newKey(t, mode)
			if !form.MatchString(key) || seen[key] {
				t.Fatalf("key %q, seen before: %v", key, seen[key])
			}
			seen[key] = true
			if got, ok := org.ParsePrivateKey(key); !ok || got != mode {
				t.Fatalf("ParsePrivateKey(%q) = %q, %v; want %q", key, got, ok, mode)
			}
		}
	}
	if got, ok := org.ParsePrivateKey(sampleKey); !ok || got != org.Test {
		t.Errorf("a key made elsewhere = %q, %v", got, ok)
	}
	if _, err := org.NewPrivateKey(org.Test, strings.NewReader("too few bytes")); err == nil {
		t.Error("a key was made of too few random bytes")
	}
}

func TestParsePrivateKeyDetectsTypos(t *testing.T) {
	t.Parallel()
	key := newKey(t, org.Live)
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	refuse := func(what, text string) {
		if text == key {
			return
		}
		if mode, ok := org.ParsePrivateKey(text); ok {
			t.Errorf("%s: ParsePrivateKey(%q) = %q, want it refused", what, text, mode)
		}
	}
	for i := range key {
		for _, digit := range alphabet + "_-. é" {
			refuse("one character", key[:i]+string(digit)+key[i+1:])
		}
		refuse("a character too few", key[:i]+key[i+1:])
		refuse("a character twice", key[:i]+key[i:i+1]+key[i:])
		refuse("cut off", key[:i])
		if i > 0 {
			refuse("two neighbours swapped", key[:i-1]+key[i:i+1]+key[i-1:i]+key[i+1:])
		}
	}
	refuse("the other mode", strings.Replace(key, "_live_", "_test_", 1))
	refuse("no mode", strings.Replace(key, "_live_", "__", 1))
	refuse("a public id", "public_live_"+credential)
	refuse("white space", " "+key)
	refuse("a line break", key+"\n")
	refuse("nothing", "")
}

// FuzzParsePrivateKey checks that every accepted text has the form of a key and that parsing it again produces the same
// result.
func FuzzParsePrivateKey(f *testing.F) {
	f.Add("")
	f.Add("private_")
	f.Add("private_test_")
	f.Add("private_live__" + strings.Repeat("0", 48))
	f.Add(sampleKey[:len(sampleKey)-1])
	f.Add(sampleKey)
	form := regexp.MustCompile(`^private_(test|live)_[0-9A-Za-z]{49}$`)
	f.Fuzz(func(t *testing.T, text string) {
		mode, ok := org.ParsePrivateKey(text)
		if !ok {
			if mode != "" && mode != org.Test && mode != org.Live {
				t.Errorf("refused with mode %q", mode)
			}
			return
		}
		if !form.MatchString(text) || !strings.HasPrefix(text, "private_"+string(mode)+"_") {
			t.Errorf("ParsePrivateKey(%q) = %q", text, mode)
		}
	})
}

func TestParsePublicIDAcceptsEveryForm(t *testing.T) {
	t.Parallel()
	upper := strings.ToUpper(credential)
	tests := []struct {
		text string
		mode org.Mode
		ok   bool
	}{
		{"public_test_" + credential, org.Test, true},
		{"public_live_" + credential, org.Live, true},
		{"public_live_" + upper, org.Live, true},
		{credential, "", true},
		{upper, "", true},
		{"", "", false},
		{"public_", "", false},
		{"public_test_", "", false},
		{"public_prod_" + credential, "", false},
		{"public__" + credential, "", false},
		{"public_" + credential, "", false},
		{"PUBLIC_TEST_" + credential, "", false},
		{"private_test_" + credential, "", false},
		{"public_test_" + credential + "#", "", false},
		{"public_test_" + credential[:35], "", false},
		{"public_test_" + strings.ReplaceAll(credential, "-", ""), "", false},
		{"{" + credential + "}", "", false},
		{"urn:uuid:" + credential, "", false},
		{" " + credential, "", false},
	}
	for _, test := range tests {
		id, mode, ok := org.ParsePublicID(test.text)
		if ok != test.ok || ok && (id != credential || mode != test.mode) {
			t.Errorf("ParsePublicID(%q) = %q, %q, %v; want %q, %v", test.text, id, mode, ok, test.mode, test.ok)
		}
	}
	c := org.Credential{ID: credential, Tenant: org.Tenant{Mode: org.Live}}
	if got := c.PublicID(); got != "public_live_"+credential {
		t.Errorf("PublicID = %q", got)
	}
}
