package freemail_test

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/manage/account/freemail"
)

func TestIsReturnsTrueForFreeMailDomains(t *testing.T) {
	t.Parallel()
	for domain, want := range map[string]bool{
		"gmail.com": true, "outlook.com": true, "yahoo.co.uk": true, "proton.me": true, "web.de": true, "qq.com": true,
		"yopmail.com":    true,
		"mail.gmail.com": true, "alder.example": false, "example.org": false, "notgmail.com": false,
		"gmail.com.alder.example": false,
		"com":                     false, "": false, "\n": false, "mail.com\ngmail.com": false, "co.uk": false,
		"hospital.org": false,
		"yahoo.com.br": true, "hotmail.fr": true, "outlook.hospital.org": false, "outlook": false,
		"GMail.Com": true, "gmail.com.": true, "a.b.mailinator.com": true, "#": false, "ac.uk": false, "nhs.uk": false,
		"com.br": false, "xn--bcher-kva.example": false,
	} {
		if got := freemail.Is(domain); got != want {
			t.Errorf("%q: %v", domain, got)
		}
	}
}

// TestPublishedListsContainValidDomains checks the published lists, if they were fetched, against domains that must and
// must not be refused.
func TestPublishedListsContainValidDomains(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("lists/published.txt")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("make freemail has not fetched them")
	}
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	all := strings.Fields(rest)
	if !strings.HasPrefix(first, "# ") || len(all) < 10_000 || !slices.IsSorted(all) {
		t.Errorf("%d domains below %q", len(all), first)
	}
	shape := regexp.MustCompile(`^([a-z0-9_-]+\.)+[a-z0-9-]+$`)
	for _, domain := range all {
		if !shape.MatchString(domain) || regexp.MustCompile(
			`^(ac|co|com|edu|go|gob|gov|ne|net|nhs|or|org)\.[a-z]{2}$`).MatchString(domain) {
			t.Errorf("%q is no mail domain", domain)
		}
	}
	for _, domain := range all[:10] {
		if !freemail.Is(domain) {
			t.Errorf("%s is not refused", domain)
		}
	}
}
