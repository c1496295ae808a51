// Package expect provides assertions for the tests of all packages. The assertions check whether an operation succeeds
// or is rejected, and how many concurrent callers succeed. Only tests import this package.
package expect

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"

	"recordbridge/shared/words/fault"
)

// NoError ends the test if err, an error from the test's setup, is not nil.
func NoError(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Conflict checks that err is a fault.Conflict. what names the operation.
func Conflict(tb testing.TB, what string, err error) {
	tb.Helper()
	if !errors.Is(err, fault.Conflict) {
		tb.Errorf("%s = %v, want fault.Conflict", what, err)
	}
}

// NotFound checks that err is a fault.NotFound. what names the operation.
func NotFound(tb testing.TB, what string, err error) {
	tb.Helper()
	if !errors.Is(err, fault.NotFound) {
		tb.Errorf("%s = %v, want fault.NotFound", what, err)
	}
}

// Winners runs n calls concurrently and returns how many succeed. Any error except fault.Conflict fails the test.
func Winners(tb testing.TB, n int, call func(ctx context.Context, i int) error) int {
	tb.Helper()
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		won   int
	)
	start := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-start
			err := call(tb.Context(), i)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !errors.Is(err, fault.Conflict) {
				tb.Errorf("call %d: %v", i, err)
			}
		})
	}
	close(start)
	group.Wait()
	return won
}

// OwnPolicy checks that a page's Content-Security-Policy forbids framing and allows only the page's inline styles and
// script, by their hashes. If the page shows an organisation's logo, the policy must also allow images. OwnPolicy
// returns the script, or "" if the page has none.
func OwnPolicy(tb testing.TB, policy, page string) (script string) {
	tb.Helper()
	hash := func(inline string) string {
		sum := sha256.Sum256([]byte(inline))
		return " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	logo := regexp.MustCompile(`<p class="brand"><img src="https://[^"<>]+" alt="" width="40" height="40">`)
	branded := logo.MatchString(page)
	page = logo.ReplaceAllString(page, "")
	styles := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindAllStringSubmatch(page, -1)
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(page, -1)
	if len(styles) == 0 || len(styles) > 2 || strings.Count(page, "<style") != len(styles) ||
		len(scripts) > 1 || strings.Count(page, "<script") != len(scripts) ||
		regexp.MustCompile(`src=|href=|https?:| style=| on[a-z]+=`).MatchString(page) {
		tb.Errorf("the page has %d styles and %d scripts, something from elsewhere or what a hash does not allow:\n%s",
			len(styles), len(scripts), page)
		return ""
	}
	want := "default-src 'none'; style-src" + hash(styles[0][1])
	if len(styles) > 1 {
		want += hash(styles[1][1])
	}
	if branded {
		want += "; img-src https:"
	}
	want += "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if len(scripts) == 1 {
		script = scripts[0][1]
		want += "; script-src" + hash(script)
	}
	if policy != want {
		tb.Errorf("policy %q\nwant   %q", policy, want)
	}
	return script
}
