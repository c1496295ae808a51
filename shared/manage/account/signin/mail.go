package signin

import (
	"strconv"
	"time"

	"recordbridge/shared/platform/mailtext"
)

const language = "en" // of the dashboard

func newDevice(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": a sign-in in a new browser",
		Opening: []string{"Somebody, most likely you, has signed in to the dashboard with your account in a browser that " +
			"it was not used in before."},
		Facts: []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:  mailtext.Link{Label: "Look at your account", Address: dashboard + "#/account"},
		Closing: []string{"If it was you, you need not do anything. If not, sign in, end all sessions on that page, and " +
			"add a passkey: whoever it was can read your e-mails."},
	}
}

func addressChanges(dashboard, to, token string, until time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": your account gets another address",
		Opening: []string{"Somebody, most likely you, gives your account of the dashboard another e-mail address. Codes to " +
			"sign in with will go there."},
		Facts: []mailtext.Fact{{Name: "New address", Value: to}, {Name: "Can be taken back until", Value: moment(until)}},
		Link:  mailtext.Link{Label: "Take it back", Address: dashboard + "#/restore/" + token},
		Closing: []string{"If it was you, you need not do anything. If not, take it back: all sessions of your account " +
			"end, and what was added to sign in with since then goes."},
	}
}

func addressGiven(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": this is your account's address now",
		Opening: []string{"Your account of the dashboard has this address from now on. Codes to sign in with come here, " +
			"and all its other sessions have ended."},
		Facts:   []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:    mailtext.Link{Label: "Look at your account", Address: dashboard + "#/account"},
		Closing: []string{"If you know nothing of this account, answer this e-mail."},
	}
}

func addressBack(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": your account has its address again",
		Opening: []string{"The change of your account's address was taken back, and all its sessions have ended."},
		Facts:   []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:    mailtext.Link{Label: "Sign in", Address: dashboard},
		Closing: []string{"Sign in and look at what your organisations have: their audit logs tell what was done in your " +
			"name."},
	}
}

// factor is a sign-in factor with the messages to its owner when it is added or removed.
type factor struct{ name, added, removed string }

func passkeyFactor() factor {
	return factor{
		"passkey", "A passkey was added to your account of the dashboard. It signs in from now on.",
		"A passkey was removed from your account of the dashboard. It does not sign in any more.",
	}
}

func generatorFactor() factor {
	return factor{
		"generator of codes", "A generator of codes was added to your account of the dashboard. Signing in takes one of " +
			"its codes from now on.",
		"The generator of codes was removed from your account of the dashboard. Its codes are asked for no more.",
	}
}

func recoveryCodeUsed(dashboard string, left int, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": a recovery code was used to sign in",
		Opening: []string{"Someone signed in to your dashboard account with a code from your e-mail and one of your " +
			"recovery codes."},
		Facts: []mailtext.Fact{{Name: "Time", Value: moment(at)}, {Name: "Recovery codes left", Value: strconv.Itoa(left)}},
		Link:  mailtext.Link{Label: "Look at your account", Address: dashboard + "#/account"},
		Closing: []string{"If this was you, you don't need to do anything. If not, sign in, create new recovery codes, and " +
			"end all sessions on that page. If you cannot sign in, have an owner of your organisation remove you from it at " +
			"once."},
	}
}

func recoveryCodesMade(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": new recovery codes were created for your account",
		Opening: []string{"New recovery codes were created for your dashboard account. The old ones no longer work."},
		Facts:   []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:    mailtext.Link{Label: "Look at your account", Address: dashboard + "#/account"},
		Closing: []string{"If this was you, you don't need to do anything. If not, sign in, create new recovery codes, and " +
			"end all sessions on that page. If you cannot sign in, have an owner of your organisation remove you from it at " +
			"once."},
	}
}

func recovered(dashboard string, at time.Time) mailtext.Message {
	return mailtext.Message{
		Language: language, Subject: product + ": your account was recovered",
		Opening: []string{"The second factors of your dashboard account were removed, as announced three days ago, and all " +
			"its sessions ended. Signing in takes a code from your e-mail alone until you add a new one."},
		Facts: []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:  mailtext.Link{Label: "Add a passkey", Address: dashboard + "#/account"},
		Closing: []string{"If this was not you, whoever it was can read your e-mails. Have another owner of your " +
			"organisation remove you from it at once, or answer this e-mail."},
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
		Language: language, Subject: product + ": a " + name + " " + done + " your account",
		Opening: []string{opening},
		Facts:   []mailtext.Fact{{Name: "Time", Value: moment(at)}},
		Link:    mailtext.Link{Label: "Look at your account", Address: dashboard + "#/account"},
		Closing: []string{"If it was you, you need not do anything. If not, sign in, " + advice +
			" If you cannot, have an owner of your organisation remove you from it at once."},
	}
}

func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
