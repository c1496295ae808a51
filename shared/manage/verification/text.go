package verification

import (
	"cmp"
	"fmt"
	"strings"

	"recordbridge/shared/platform/mailtext"
	"recordbridge/shared/words/org"
)

// service is the name used in emails that do not name an organisation.
const service = "Recordbridge"

// wording holds the sentences of an email in one language. Each %s stands for the organisation's name. Emails with
// codes contain no links, so that users do not learn to follow links in emails.
type wording struct {
	lang    string
	subject string
	asks    string
	code    string
	advice  string
	ignore  string
	test    string
}

func english() wording {
	return wording{
		lang:    "en",
		subject: "Your code for %s",
		asks:    "%s wants to confirm that this is your email address.",
		code:    "Your code:",
		advice: "The code works once and expires after 5 minutes. Enter the code where you requested it. Don't share the " +
			"code: no one will ever ask you for it.",
		ignore: "If you didn't request a code, you can ignore this email.",
		test:   "test mode",
	}
}

func spanish() wording {
	return wording{
		lang:    "es",
		subject: "Su código para %s",
		asks:    "%s quiere confirmar que este correo es suyo.",
		code:    "Su código:",
		advice: "El código funciona una sola vez y vence a los 5 minutos. Escriba el código donde lo pidió. No comparta " +
			"el código: nadie se lo pedirá nunca.",
		ignore: "Si no pidió ningún código, ignore este correo.",
		test:   "modo de prueba",
	}
}

// in returns the wording for a language tag: Spanish or, by default, English.
func in(language string) wording {
	primary, _, _ := strings.Cut(strings.ToLower(language), "-")
	if primary == "es" {
		return spanish()
	}
	return english()
}

// signIn returns the wording for signing in to the dashboard. newAddress returns the wording for changing an account's
// email address. Both wordings exist only in English, like the dashboard.
func signIn() wording {
	return wording{
		lang:    "en",
		subject: "Your sign-in code for %s",
		asks:    "Someone, probably you, is signing in to the dashboard of %s with this email address.",
		code:    "Your code:",
		advice: "The code works once and expires after 5 minutes. Enter the code where you requested it. Don't forward " +
			"this email or share the code: no one will ever ask you for it.",
		ignore: "If this wasn't you, you can ignore this email. Nobody can sign in without the code.",
	}
}

// noticeAddress returns the wording for verifying the email address to which an organisation's notices are sent. The
// wording contains no text written by the organisation.
func noticeAddress() wording {
	w := signIn()
	w.subject = "Confirm this address for notices from %s"
	w.asks = "Someone wants an organisation's notices from %s to be sent to this email address."
	w.advice = "The code works once and expires after 5 minutes. If you expected this email, give the code to the " +
		"colleague who manages your organisation's settings."
	w.ignore = "If you didn't expect this email, ignore it. Without the code, we won't send you any notices."
	return w
}

func newAddress() wording {
	w := signIn()
	w.subject = "Your code to confirm this address for %s"
	w.asks = "Someone, probably you, wants to use this email address for a dashboard account at %s."
	w.ignore = "If this wasn't you, you can ignore this email. Nothing changes without the code."
	return w
}

func write(r Request, digits string) mailtext.Message {
	w := in(r.Language)
	switch r.Occasion {
	case SignIn:
		w = signIn()
	case NewAddress:
		w = newAddress()
	case NoticeAddress:
		w = noticeAddress()
	case Form:
	}
	name := cmp.Or(mailtext.Plain(r.Organisation), service)
	if r.Tenant.Mode == org.Test {
		name += " (" + w.test + ")"
	}
	return mailtext.Message{
		Language: w.lang, Subject: fmt.Sprintf(w.subject, name), Opening: []string{fmt.Sprintf(w.asks, name)},
		Code: mailtext.Code{Label: w.code, Digits: digits}, Closing: []string{w.advice, w.ignore},
	}
}
