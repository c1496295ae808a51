package signin

import (
	"strconv"
	"time"

	"recordbridge/shared/platform/mailtext"
)

const language = "en" // the dashboard's language

func newDevice(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": sign-in from a new browser",
		Opening: []string{"Someone, probably you, signed in to your dashboard account in a new browser."},
		Facts:   []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:    mailtext.Link{Label: "Review your account", Address: dashboard + "#/account"},
		Closing: []string{"If this was you, you don't need to do anything. If not, sign in, end all sessions on that " +
			"page and add a passkey: someone else can read your e-mail."},
	}
}

func addressChanges(dashboard, to, token string, until time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": your account's e-mail address is changing",
		Opening: []string{"Someone, probably you, is changing the e-mail address of your dashboard account. Sign-in " +
			"codes will go to the new address."},
		Facts: []mailtext.Fact{{Name: "New address", Value: to}, {Name: "Can be undone until", Value: moment(until)}},
		Link:  mailtext.Link{Label: "Undo the change", Address: dashboard + "#/restore/" + token},
		Closing: []string{"If this was you, you don't need to do anything. If not, undo the change. That ends all " +
			"your account's sessions and removes any sign-in method added since then."},
	}
}

func addressGiven(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": this is your account's new address",
		Opening: []string{"This is now the e-mail address of your dashboard account. Sign-in codes will come here, " +
			"and all other sessions have ended."},
		Facts:   []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:    mailtext.Link{Label: "Review your account", Address: dashboard + "#/account"},
		Closing: []string{"If you don't know this account, reply to this e-mail."},
	}
}

func addressBack(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": your account's address was restored",
		Opening: []string{"The change of your account's address was undone, and all its sessions have ended."},
		Facts:   []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:    mailtext.Link{Label: "Sign in", Address: dashboard},
		Closing: []string{"Sign in and check your organisations: their audit logs show what was done in your name."},
	}
}

// factor names a sign-in factor, and holds the messages to its owner when it is added or removed.
type factor struct{ name, added, removed string }

func passkeyFactor() factor {
	return factor{
		"a passkey", "A passkey was added to your dashboard account. You can now sign in with it.",
		"A passkey was removed from your dashboard account. It no longer works for signing in.",
	}
}

func generatorFactor() factor {
	return factor{
		"an authenticator app", "An authenticator app was added to your dashboard account. Signing in now requires one " +
			"of its codes.",
		"The authenticator app was removed from your dashboard account. Its codes are no longer required.",
	}
}

func recoveryCodeUsed(dashboard string, left int, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": a recovery code was used to sign in",
		Opening: []string{"Someone signed in to your dashboard account with a code from your e-mail and one of your " +
			"recovery codes."},
		Facts: []mailtext.Fact{{Name: "Time", Value: moment(at)}, {Name: "Recovery codes left", Value: strconv.Itoa(left)}},
		Link:  mailtext.Link{Label: "Review your account", Address: dashboard + "#/account"},
		Closing: []string{"If this was you, you don't need to do anything. If not, sign in, create new recovery " +
			"codes, and end all sessions on that page. If you can't sign in, have an owner of your organisation " +
			"remove you from it at once."},
	}
}

func recoveryCodesMade(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": new recovery codes were created for your account",
		Opening: []string{"New recovery codes were created for your dashboard account. The old ones no longer work."},
		Facts:   []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:    mailtext.Link{Label: "Review your account", Address: dashboard + "#/account"},
		Closing: []string{"If this was you, you don't need to do anything. If not, sign in, create new recovery " +
			"codes, and end all sessions on that page. If you can't sign in, have an owner of your organisation " +
			"remove you from it at once."},
	}
}

func recovered(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": your account was recovered",
		Opening: []string{"Your dashboard account's second factors were removed, as announced three days ago, and " +
			"all its sessions ended. Until you add a new one, an e-mailed code is enough to sign in."},
		Facts: []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:  mailtext.Link{Label: "Add a passkey", Address: dashboard + "#/account"},
		Closing: []string{"If this was not you, someone else can read your e-mail. Have another owner of your " +
			"organisation remove you from it at once, or reply to this e-mail."},
	}
}

func factorAdded(dashboard string, f factor, at time.Time) mailtext.Message {
	return factorChanged(dashboard, "was added to", f.name, f.added, "remove it, and end all sessions on that page.", at)
}

func factorRemoved(dashboard string, f factor, at time.Time) mailtext.Message {
	return factorChanged(dashboard, "was removed from", f.name, f.removed,
		"end all sessions on that page, and add another one.", at)
}

func factorChanged(dashboard, done, name, opening, advice string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": " + name + " " + done + " your account",
		Opening: []string{opening},
		Facts:   []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:    mailtext.Link{Label: "Review your account", Address: dashboard + "#/account"},
		Closing: []string{"If this was you, you don't need to do anything. If not, sign in, " + advice +
			" If you can't sign in, have an owner of your organisation remove you from it at once."},
	}
}

func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
