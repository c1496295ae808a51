package inquiry

import (
	"fmt"
	"strings"

	"recordbridge/shared/platform/mailtext"
	"recordbridge/shared/words/org"
)

// written returns a reply as the patient sees it. It does not repeat the inquiry: the address may not be proven to be
// the patient's, and a stranger's words must not reach another person from our address.
func written(host string, mode org.Mode, text string) mailtext.Message {
	name := mailtext.Plain(host)
	shown := name
	if mode == org.Test {
		shown += " (test mode)"
	}
	return answered(shown, name, shown+" answers what you asked while you connected your health records:", text)
}

// writtenAsOperator returns a reply by the service's operator, to a customer's team or to a patient.
func writtenAsOperator(text string) mailtext.Message {
	const name = "Recordbridge support"
	return answered(name, name, name+" answers your request:", text)
}

// answered returns the mail: its sender, the recipient of further replies, and the reply.
func answered(from, to, lead, text string) mailtext.Message {
	opening := []string{lead}
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			opening = append(opening, line)
		}
	}
	return mailtext.Message{
		Language: "en", Subject: "An answer from " + from, Opening: opening,
		Closing: []string{
			fmt.Sprintf("Reply to this e-mail to write to %s.", to),
			"If you did not ask anything, you need not do anything.",
		},
	}
}
