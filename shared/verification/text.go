package verification

import (
	"fmt"
	"html"
	"strings"
	"unicode"

	"recordbridge/shared/org"
)

// mailText is a mail in both forms. It has no link, so that nobody learns to follow one, and its subject no code, which a
// locked telephone would show.
type mailText struct {
	subject, text, html string
}

// wording are the sentences of a mail in a language. Each %s is the organisation's name.
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
		advice:  "It works once, for 5 minutes. Type it where you asked for it, and give it to nobody: nobody will ever ask you for it.",
		ignore:  "If you did not ask for a code, you need not do anything.",
		test:    "test mode",
	}
}

func spanish() wording {
	return wording{
		lang:    "es",
		subject: "Su código para %s",
		asks:    "%s pregunta si esta dirección de correo electrónico es suya.",
		code:    "Su código:",
		advice:  "Funciona una sola vez, durante 5 minutos. Escríbalo donde lo pidió y no se lo dé a nadie: nadie se lo pedirá nunca.",
		ignore:  "Si no ha pedido ningún código, no tiene que hacer nada.",
		test:    "modo de prueba",
	}
}

// in is the wording for a language tag.
func in(language string) wording {
	primary, _, _ := strings.Cut(strings.ToLower(language), "-")
	if primary == "es" {
		return spanish()
	}
	return english()
}

func write(r Request, digits string) mailText {
	w := in(r.Language)
	name := plain(r.Organisation)
	if r.Tenant.Mode == org.Test {
		name += " (" + w.test + ")"
	}
	asks := fmt.Sprintf(w.asks, name)
	return mailText{
		subject: fmt.Sprintf(w.subject, name),
		text:    strings.Join([]string{asks, w.code + " " + digits, w.advice, w.ignore}, "\n\n") + "\n",
		html: fmt.Sprintf(`<!doctype html><html lang="%s"><head><meta charset="utf-8"><title>%s</title></head>`+
			`<body style="font:16px/1.5 sans-serif;margin:24px"><p>%s</p><p>%s<br><strong style="font-size:32px;letter-spacing:4px">%s</strong></p><p>%s</p><p>%s</p></body></html>`,
			w.lang, html.EscapeString(fmt.Sprintf(w.subject, name)), html.EscapeString(asks), w.code, digits, w.advice, w.ignore),
	}
}

// plain keeps a name, which an organisation has chosen itself, on one line.
func plain(name string) string {
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}
