package inquiry

import (
	"fmt"
	"strings"

	"recordbridge/shared/platform/mailtext"
	"recordbridge/shared/words/org"
)

// written is an answer as the patient reads it. It does not repeat what was asked: nobody may have shown that the
// address is the patient's, and a stranger's words must not reach another person from our address.
func written(host string, mode org.Mode, text string) mailtext.Message {
	name := mailtext.Plain(host)
	shown := name
	if mode == org.Test {
		shown += " (test mode)"
	}
	return answered(shown, name, shown+" replied to the question you asked while you connected your health "+
		"records:", text)
}

// writtenAsOperator is an answer of whoever runs the service, to a customer's team or to a patient.
func writtenAsOperator(text string) mailtext.Message {
	const name = "Recordbridge support"
	return answered(name, name, name+" replied to your request:", text)
}

// answered is the mail: from whom it is, to whom a reply goes, and the answer.
func answered(from, to, lead, text string) mailtext.Message {
	opening := []string{lead}
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			opening = append(opening, line)
		}
	}
	return mailtext.Message{
		Language: "en", Subject: "Reply from " + from, Opening: opening,
		Closing: []string{
			fmt.Sprintf("To write to %s, reply to this e-mail.", to),
			"If you didn't ask a question, you can ignore this e-mail.",
		},
	}
}
