package explain

import (
	"slices"
	"strings"

	"recordbridge/shared/words/org"
)

const portalMoved = "portal_moved"

// commands returns the ctl commands that show or repair the objects named in the log line, with all IDs filled in.
func (l Line) commands() []string {
	var all []string
	endpoint, mode, owner := l.id("endpoint_id"), l.mode(), l.id("org_id")
	if endpoint != "" && l.Fields["event"] == portalMoved {
		all = append(all, "ctl endpoint approve -id "+endpoint)
	}
	if endpoint != "" && mode != "" {
		all = append(all, l.atEndpoint(endpoint, mode, owner)...)
	}
	if owner != "" && mode != "" {
		all = append(all, l.ofTenant(" -org "+owner+" -mode "+mode)...)
	}
	if len(all) == 0 && owner != "" {
		all = append(all, "ctl organisation show -org "+owner)
	}
	return all
}

// atEndpoint returns commands that operate on an external server and the service's client there. The result is empty if
// the patient caused the failure, or if the service failed to read or write a row.
func (l Line) atEndpoint(endpoint, mode, owner string) []string {
	class, step := l.Fields["class"], l.Fields["step"]
	isPatients := slices.Contains([]string{"declined", "invalid_grant", "not_granted"}, class)
	if isPatients || step == "callback" || l.Fields["operation"] != "" {
		return nil
	}
	of := ""
	if owner != "" {
		of = " -org " + owner
	}
	var all []string
	isOurClient := slices.ContainsFunc([]string{class, l.Fields["ended"]}, func(word string) bool {
		return slices.Contains([]string{
			"invalid_client", "unauthorized_client", "client_secret_encoding",
			"client_unproven",
		}, word)
	})
	if isOurClient || class == "forbidden" || l.Fields["result"] == "partial" {
		all = append(all, "ctl registration show -endpoint "+endpoint+" -mode "+mode+of)
	}
	if isOurClient {
		all = append(all, "ctl client list")
	}
	test := "ctl endpoint test -id " + endpoint + " -mode " + mode + of
	if isOurClient || step == "token" {
		test += " -token-request"
	}
	return append(all, test)
}

// ofTenant returns commands that operate on a tenant's objects.
func (l Line) ofTenant(tenant string) []string {
	var all []string
	if id := l.id("subscription_id"); id != "" {
		all = append(all, "ctl webhook show"+tenant+" -id "+id)
		if delivery := l.id("delivery_id"); delivery != "" {
			all = append(all, "ctl webhook show"+tenant+" -delivery "+delivery)
		}
		all = append(all, "ctl webhook log"+tenant+" -id "+id)
		if l.Fields["disabled"] != "" {
			all = append(all, "ctl webhook enable"+tenant+" -id "+id)
		}
	}
	if id := l.id("connection_id"); id != "" {
		all = append(all, "ctl connection show"+tenant+" -id "+id)
	}
	if id := l.id("task_id"); id != "" {
		all = append(all, "ctl export show"+tenant+" -id "+id)
	}
	return all
}

// mode returns the line's mode, or "" if it is invalid.
func (l Line) mode() string {
	mode, ok := org.ParseMode(l.Fields["mode"])
	if !ok {
		return ""
	}
	return string(mode)
}

// id returns a field's value, or "" if it is not a valid ID. Only valid IDs are safe in commands that operators paste
// into a shell.
func (l Line) id(name string) string {
	value := l.Fields[name]
	isForeign := func(r rune) bool { return !strings.ContainsRune("0123456789abcdef-", r) }
	if len(value) < 32 || len(value) > 36 || value[0] == '-' || strings.ContainsFunc(value, isForeign) {
		return ""
	}
	return value
}
