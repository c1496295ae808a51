package verification

import (
	"cmp"
	"fmt"
	"strings"

	"recordbridge/shared/platform/mailtext"
	"recordbridge/shared/words/org"
)

// service is the name that a mail shows if it shows no organisation's.
const service = "Recordbridge"

// wording holds the sentences of a mail in one language. Each %s is the organisation's name. A mail with a code
// contains no link, so that users do not learn to follow links.
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
		asks:    "%s asks whether this e-mail address is yours.",
		code:    "Your code:",
		advice: "It works once, for 5 minutes. Type it where you asked for it, and give it to nobody: nobody will ever " +
			"ask you for it.",
		ignore: "If you did not ask for a code, you need not do anything.",
		test:   "test mode",
	}
}

func spanish() wording {
	return wording{
		lang:    "es",
		subject: "Su código para %s",
		asks:    "%s pregunta si esta dirección de correo electrónico es suya.",
		code:    "Su código:",
		advice: "Funciona una sola vez, durante 5 minutos. Escríbalo donde lo pidió y no se lo dé a nadie: nadie se lo " +
			"pedirá nunca.",
		ignore: "Si no ha pedido ningún código, no tiene que hacer nada.",
		test:   "modo de prueba",
	}
}

// in returns the wording for a language tag.
func in(language string) wording {
	primary, _, _ := strings.Cut(strings.ToLower(language), "-")
	if primary == "es" {
		return spanish()
	}
	return english()
}

// signIn returns the wording for signing in to the dashboard, and newAddress that for changing an account's address.
// Both are in English, like the dashboard.
func signIn() wording {
	return wording{
		lang:    "en",
		subject: "Your code to sign in to %s",
		asks:    "Somebody, most likely you, signs in to the dashboard of %s with this e-mail address.",
		code:    "Your code:",
		advice: "It works once, for 5 minutes. Type it where you asked for it. Do not forward this e-mail, and tell " +
			"nobody the code: nobody will ever ask you for it.",
		ignore: "If it was not you, you need not do anything: without the code nobody gets in.",
	}
}

// noticeAddress returns the wording for the reader of an address to which an organisation wants its notices sent. It
// contains none of that organisation's text.
func noticeAddress() wording {
	w := signIn()
	w.subject = "Confirm this address for notices from %s"
	w.asks = "Someone wants an organisation's notices from %s to be sent to this e-mail address."
	w.advice = "The code works once, for 5 minutes. If you expected this e-mail, give the code to the colleague who " +
		"manages your organisation's settings."
	w.ignore = "If you did not expect this e-mail, ignore it. Without the code, no notices are sent to you."
	return w
}

func newAddress() wording {
	w := signIn()
	w.subject = "Your code to confirm this address for %s"
	w.asks = "Somebody, most likely you, wants to use this e-mail address for an account of the dashboard of %s."
	w.ignore = "If it was not you, you need not do anything: without the code nothing changes."
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
