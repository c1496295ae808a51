package inquiry

import (
	"fmt"
	"strings"

	"recordbridge/shared/platform/mailtext"
	"recordbridge/shared/words/org"
)

// written returns an organisation's reply as an email to the patient. The email doesn't quote the inquiry. The
// inquiry's address may be unverified, and the service must not send a stranger's text to another person.
func written(host string, mode org.Mode, text string) mailtext.Message {
	name := mailtext.Plain(host)
	shown := name
	if mode == org.Test {
		shown += " (test mode)"
	}
	return answered(shown, name, shown+" replied to the question you asked while you connected your health "+
		"records:", text)
}

// writtenAsOperator returns the service operator's reply as an email to a customer's team or to a patient.
func writtenAsOperator(text string) mailtext.Message {
	const name = "Recordbridge support"
	return answered(name, name, name+" replied to your request:", text)
}

// answered returns the sender, text and reply-to address of the email for a reply.
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
			fmt.Sprintf("To write to %s, reply to this email.", to),
			"If you didn't ask a question, you can ignore this email.",
		},
	}
}
