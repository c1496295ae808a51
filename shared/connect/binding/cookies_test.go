package binding_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/words/org"
)

func TestSurplusCookiesKeepsNewestTwenty(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		maker, held := binding.Maker{Random: rand.Reader, Now: time.Now},
			map[string]string{"session": "of somebody else", "__Host-other": "x"}
		const attempts = 140
		begun := make([]string, 0, attempts)
		for range attempts {
			for _, name := range binding.SurplusCookies(held) {
				delete(held, name)
			}
			_, _, started, err := maker.Bind(org.Tenant{}, "attempt", time.Now().Add(binding.Lifetime))
			if err != nil {
				t.Fatal(err)
			}
			held[started.CookieName] = started.CookieValue.Reveal()
			begun = append(begun, started.CookieName)
			<-time.After(time.Second)
		}
		for i, name := range begun {
			if _, ok := held[name]; ok != (i >= len(begun)-20) {
				t.Errorf("attempt %d of %d: its cookie is there: %v", i, len(begun), ok)
			}
		}
		if len(held) != 22 {
			t.Errorf("the browser holds %d cookies", len(held))
		}
	})
}

// TestSurplusCookiesLimitsExpiredCookiesPerResponse also checks that cookies without a creation time count as the
// oldest.
func TestSurplusCookiesLimitsExpiredCookiesPerResponse(t *testing.T) {
	t.Parallel()
	held := map[string]string{"attempt-newest": "t8mps0.x"}
	for i := range 110 {
		held[fmt.Sprintf("attempt-%03d", i)] = "without-a-time"
	}
	for range 6 {
		gone := binding.SurplusCookies(held)
		if len(gone) > 20 || slices.Contains(gone, "attempt-newest") {
			t.Errorf("%d cookies go: %q", len(gone), gone)
		}
		for _, name := range gone {
			delete(held, name)
		}
	}
	if len(held) != 19 {
		t.Errorf("%d cookies stay, want 19 and room for one more", len(held))
	}
}
