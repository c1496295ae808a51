package totp_test

import (
	"testing"
	"time"

	"recordbridge/shared/manage/account/totp"
)

// TestCodeMatchesRFC6238Vectors uses the SHA-1 test vectors from RFC 6238 appendix B, shortened from eight digits to
// six.
func TestCodeMatchesRFC6238Vectors(t *testing.T) {
	t.Parallel()
	secret := []byte("12345678901234567890")
	for seconds, want := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037",
		20000000000: "353130",
	} {
		if got := totp.Code(secret, totp.Step(time.Unix(seconds, 0))); got != want {
			t.Errorf("at %d the code is %s, want %s", seconds, got, want)
		}
	}
}

func TestMatchAcceptsAdjacentStepsOnce(t *testing.T) {
	t.Parallel()
	secret, now := []byte("12345678901234567890"), time.Unix(1234567890, 0)
	current := totp.Step(now)
	for name, c := range map[string]struct {
		code  string
		after int64
		found int64
		ok    bool
	}{
		"this step":               {totp.Code(secret, current), 0, current, true},
		"the one before":          {totp.Code(secret, current-1), 0, current - 1, true},
		"the one after":           {totp.Code(secret, current+1), 0, current + 1, true},
		"two before":              {totp.Code(secret, current-2), 0, 0, false},
		"two after":               {totp.Code(secret, current+2), 0, 0, false},
		"taken already":           {totp.Code(secret, current), current, 0, false},
		"older than what was":     {totp.Code(secret, current-1), current, 0, false},
		"newer than what was":     {totp.Code(secret, current+1), current, current + 1, true},
		"another secret's":        {totp.Code([]byte("12345678901234567891"), current), 0, 0, false},
		"nothing":                 {"", 0, 0, false},
		"with what is behind it":  {totp.Code(secret, current) + "0", 0, 0, false},
		"in digits of elsewhere ": {"００５９２４", 0, 0, false},
	} {
		if found, ok := totp.Match(secret, c.code, now, c.after); found != c.found || ok != c.ok {
			t.Errorf("%s: %d, %v", name, found, ok)
		}
	}
}

func TestURIContainsBase32EncodedSecret(t *testing.T) {
	t.Parallel()
	got := totp.URI([]byte("12345678901234567890"), "Recordbridge", "ada+dev@alder.example")
	want := "otpauth://totp/Recordbridge:ada+dev@alder.example?issuer=Recordbridge&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
	if got != want {
		t.Errorf("got %s", got)
	}
}
