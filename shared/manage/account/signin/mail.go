package signin

import (
	"strconv"
	"time"

	"recordbridge/shared/platform/mailtext"
)

const language = "en"

func newDevice(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": sign-in from a new browser",
		Opening: []string{"Someone, probably you, signed in to your dashboard account in a new browser."},
		Facts:   []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:    mailtext.Link{Label: "Review your account", Address: dashboard + "#/account"},
		Closing: []string{"If this was you, you don't need to do anything. If this wasn't you, someone else can read your " +
			"email. Sign in, end all sessions on the account page and add a passkey."},
	}
}

func addressChanges(dashboard, to, token string, until time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": your account's email address is changing",
		Opening: []string{"Someone, probably you, is changing the email address of your dashboard account. Sign-in codes " +
			"will go to the new address."},
		Facts: []mailtext.Fact{{Name: "New address", Value: to}, {Name: "Can be undone until", Value: moment(until)}},
		Link:  mailtext.Link{Label: "Undo the change", Address: dashboard + "#/restore/" + token},
		Closing: []string{"If this was you, you don't need to do anything. If this wasn't you, undo the change. Undoing " +
			"the change ends all your account's sessions and removes any sign-in method added since then."},
	}
}

func addressGiven(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": this is your account's new address",
		Opening: []string{"This is now the email address of your dashboard account. Sign-in codes will be sent to this " +
			"address, and all other sessions have ended."},
		Facts:   []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:    mailtext.Link{Label: "Review your account", Address: dashboard + "#/account"},
		Closing: []string{"If you don't recognise this account, reply to this email."},
	}
}

func addressBack(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": your account's address was restored",
		Opening: []string{"The change of your account's email address was undone, and all the account's sessions have " +
			"ended."},
		Facts:   []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:    mailtext.Link{Label: "Sign in", Address: dashboard},
		Closing: []string{"Sign in and check your organisations' audit logs, which show what was done with your account."},
	}
}

// factor names a sign-in factor and holds the messages that are sent when it is added or removed.
type factor struct{ name, added, removed string }

func passkeyFactor() factor {
	return factor{
		"a passkey", "A passkey was added to your dashboard account. You can now sign in with this passkey.",
		"A passkey was removed from your dashboard account. You can no longer sign in with this passkey.",
	}
}

func generatorFactor() factor {
	return factor{
		"an authenticator app", "An authenticator app was added to your dashboard account. Signing in now requires a code " +
			"from the app.",
		"The authenticator app was removed from your dashboard account. Signing in no longer requires a code from the app.",
	}
}

func recoveryCodeUsed(dashboard string, left int, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": a recovery code was used to sign in",
		Opening: []string{"Someone signed in to your dashboard account with a code from your email and one of your " +
			"recovery codes."},
		Facts: []mailtext.Fact{{Name: "Time", Value: moment(at)}, {Name: "Recovery codes left", Value: strconv.Itoa(left)}},
		Link:  mailtext.Link{Label: "Review your account", Address: dashboard + "#/account"},
		Closing: []string{"If this was you, you don't need to do anything. If this wasn't you, sign in, create new " +
			"recovery codes, and end all sessions on the account page. If you can't sign in, ask an owner of your " +
			"organisation to remove you from the organisation at once."},
	}
}

func recoveryCodesMade(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": new recovery codes were created for your account",
		Opening: []string{"New recovery codes were created for your dashboard account. Your old recovery codes no longer " +
			"work."},
		Facts: []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:  mailtext.Link{Label: "Review your account", Address: dashboard + "#/account"},
		Closing: []string{"If this was you, you don't need to do anything. If this wasn't you, sign in, create new " +
			"recovery codes, and end all sessions on the account page. If you can't sign in, ask an owner of your " +
			"organisation to remove you from the organisation at once."},
	}
}

func recovered(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": your account was recovered",
		Opening: []string{"Your dashboard account's second factors were removed, as announced three days ago, and all the " +
			"account's sessions ended. Until you add a new second factor, an emailed code is enough to sign in."},
		Facts: []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:  mailtext.Link{Label: "Add a passkey", Address: dashboard + "#/account"},
		Closing: []string{"If this was not you, someone else can read your email. Ask another owner of your organisation " +
			"to remove you from the organisation at once, or reply to this email."},
	}
}

func factorAdded(dashboard string, f factor, at time.Time) mailtext.Message {
	return factorChanged(dashboard, "was added to", f.name, f.added, "remove the new sign-in method, and end all "+
		"sessions on the account page.", at)
}

func factorRemoved(dashboard string, f factor, at time.Time) mailtext.Message {
	return factorChanged(dashboard, "was removed from", f.name, f.removed,
		"end all sessions on the account page, and add another sign-in method.", at)
}

func factorChanged(dashboard, done, name, opening, advice string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": " + name + " " + done + " your account",
		Opening: []string{opening},
		Facts:   []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:    mailtext.Link{Label: "Review your account", Address: dashboard + "#/account"},
		Closing: []string{"If this was you, you don't need to do anything. If this wasn't you, sign in, " + advice +
			" If you can't sign in, ask an owner of your organisation to remove you from the organisation at once."},
	}
}

func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
