package verification_test

import (
	"errors"
	"strings"
	"testing"

	"recordbridge/shared/manage/verification"
	"recordbridge/shared/words/fault"
)

func TestParseAddressAcceptsSingleMailbox(t *testing.T) {
	t.Parallel()
	// 254 characters
	long := strings.Repeat("a", 64) + "@" + strings.Repeat(strings.Repeat("b", 61)+".", 3) + "org"
	const pasted = " \tada@example.com\r\n"
	for given, want := range map[string]string{
		"ada@example.com":                  "ada@example.com",
		pasted:                             "ada@example.com",
		"Ada.O'Maple+tag@Mail.EXAMPLE.com": "Ada.O'Maple+tag@mail.example.com",
		// internationalised domain, encoded as in email
		"a_b-c=d@xn--mnchen-3ya.example": "a_b-c=d@xn--mnchen-3ya.example",
		long:                             long,
	} {
		if a, err := verification.ParseAddress(given); err != nil || a.String() != want {
			t.Errorf("%q is %q, %v", given, a, err)
		}
	}
}

func TestParseAddressRejectsMultipleMailboxes(t *testing.T) {
	t.Parallel()
	for _, given := range []string{
		"", "@", "ada", "ada@", "@example.com", "ada@example", "ada@@example.com", "ada@b@example.com",
		"ada@example.com\r\nBcc: eve@example.com", "ada\r\n@example.com", "ada@exa\x00mple.com", "ada\x7f@example.com",
		"ada@example.com,eve@example.com", "ada@example.com;eve@example.com", "ada@example.com eve@example.com",
		"Ada <ada@example.com>", `"ada maple"@example.com`, `"a@b"@example.com`, "ada(comment)@example.com",
		`ada\@example.com`,
		".ada@example.com", "ada.@example.com", "ada..maple@example.com",
		"ada@[127.0.0.1]", "ada@127.0.0.1", "ada@-example.com", "ada@example-.com", "ada@example..com", "ada@.example.com",
		"ada@example.com.",
		"ada@exam_ple.com", "ada@example.com:25", "ada@example.com/x", "ada%40example.com",
		"adá@example.com", "ada@münchen.example", "ada@ехample.com", "аda@example.com", "ada@example.com\u202e",
		"ada\u200b@example.com", "ada＠example.com",
		strings.Repeat("a", 65) + "@example.com", "ada@" + strings.Repeat("b", 64) + ".com",
		"a@" + strings.Repeat("b.", 125) + "org.org", strings.Repeat("a", 60_000) + "@example.com",
	} {
		_, err := verification.ParseAddress(given)
		if !errors.Is(err, fault.Invalid) || len(given) > 12 && strings.Contains(err.Error(), given) ||
			fault.Of(err).Field != "email" {
			t.Errorf("%q: %v", given, err)
		}
	}
}
