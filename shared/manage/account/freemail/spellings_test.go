package freemail_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/manage/account/freemail"
	"recordbridge/shared/manage/verification"
)

// spellings contains public email domains, each spelled in several ways.
const spellings = `
gmail.com GMAIL.COM Gmail.Com gmail.com. googlemail.com GoogleMail.com mail.gmail.com
outlook.com outlook.fr outlook.com.br outlook.co.th OUTLOOK.DE hotmail.com hotmail.co.uk hotmail.it
Hotmail.Com live.com live.nl live.co.uk live.com.mx msn.com windowslive.com
contoso.onmicrosoft.com CONTOSO.OnMicrosoft.com mail.contoso.onmicrosoft.com onmicrosoft.com
yahoo.com yahoo.co.jp yahoo.de yahoo.com.ar YAHOO.COM. ymail.com rocketmail.com aol.com aol.co.uk AIM.com
icloud.com me.com mac.com privaterelay.appleid.com PrivateRelay.AppleID.com
proton.me Proton.Me protonmail.com protonmail.ch PROTONMAIL.CH pm.me mail.protonmail.ch passmail.net passinbox.com
tuta.com tuta.io tutanota.com tutanota.de tutamail.com keemail.me TutaMail.com.
riseup.net RISEUP.net lists.riseup.net disroot.org autistici.org cock.li systemli.org posteo.net posteo.de mailbox.org
hushmail.com hush.com mailfence.com runbox.com startmail.com kolabnow.com vivaldi.net
murena.io fastmail.com fastmail.net FastMail.FM sent.com hey.com
duck.com Duck.Com mozmail.com x7k2.mozmail.com relay.firefox.com simplelogin.com
simplelogin.co aleeas.com slmail.me 8alias.com dralias.com
addy.io anonaddy.com anonaddy.me someone.anonaddy.me addymail.com 4wrd.cc 33mail.com
someone.33mail.com burnermail.io spamgourmet.com opayq.com
gmx.de gmx.net gmx.fr gmx.co.uk web.de t-online.de freenet.de mail.com doctor.com dr.com consultant.com usa.com
yandex.ru yandex.com.tr ya.ru mail.ru bk.ru internet.ru rambler.ru lenta.ru ukr.net
qq.com vip.qq.com 163.com vip.163.com 126.com 139.com sina.com sina.cn foxmail.com naver.com hanmail.net docomo.ne.jp
zoho.com zoho.eu zoho.in zohomail.com zohomail.eu comcast.net rr.com tampabay.rr.com mindspring.com cs.com netscape.net
mailinator.com MAILINATOR.net any.thing.mailinator.com guerrillamail.com
guerrillamail.org grr.la sharklasers.com spam4.me yopmail.com yopmail.fr
10minutemail.com 10minutemail.net temp-mail.org temp-mail.io trashmail.com trashmail.de
maildrop.cc getnada.com dropmail.me 1secmail.com tempr.email byom.de
`

func TestIsByOwnListReturnsTrueForFreeMailSpellings(t *testing.T) {
	t.Parallel()
	all := strings.Fields(spellings)
	if len(all) < 93 {
		t.Errorf("only %d spellings", len(all))
	}
	for _, domain := range all {
		if !freemail.IsByOwnList(domain) || !freemail.Is(domain) {
			t.Errorf("%s passes for an organisation's", domain)
		}
	}
}

// TestParseAddressRejectsNonASCIISpellings checks that a non-ASCII email address is refused before its domain is looked
// up, because a mail server would map the domain to ASCII.
func TestParseAddressRejectsNonASCIISpellings(t *testing.T) {
	t.Parallel()
	for _, domain := range []string{
		"ｇｍａｉｌ.com", "gmail。com", "gmail．com", "gma\u00adil.com", "gm\u200bail.com", "GMAİL.com", "ɢmail.com", "gmаil.com",
		"protonmail。ch", "xn--gmail-.com",
		"gmail.com..", ".gmail.com", "gmail..com", "gmail.com\n", "[gmail.com]", "gmail.com:25", "gmail.com/",
		"user@gmail.com", "gmail%2ecom", "gmail.com#a.example",
	} {
		if at, err := verification.ParseAddress("someone@" + domain); err == nil && !freemail.Is(at.Domain()) {
			t.Errorf("%q passes for an organisation's", domain)
		}
	}
}

func TestIsReturnsFalseForOrganisationDomains(t *testing.T) {
	t.Parallel()
	for _, domain := range []string{
		"alder.example", "proton.example", "notproton.me", "myriseup.net", "onmicrosoft.com.alder.example",
		"gmail.com.alder.example", "duck.com.example", "live.hospital.org",
		"yandex.alder.example", "aol.clinic", "zoho.clinic.org", "microsoft.com", "apple.com", "google.com", "mozilla.org",
		"proton.ch", "nhs.net", "va.gov", "harvard.edu", "nus.edu.sg",
	} {
		if freemail.IsByOwnList(domain) {
			t.Errorf("%s is refused", domain)
		}
	}
}

func TestBuiltInListIsSorted(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("lists/own.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n")
	all := strings.Fields(rest)
	shape := regexp.MustCompile(`^([a-z0-9-]+\.)+[a-z]{2,}$`)
	if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) ||
		slices.ContainsFunc(all, func(domain string) bool { return !shape.MatchString(domain) }) {
		t.Error("the list is unsorted, or has a duplicate or a line that is not a domain")
	}
}
