package main

import "strings"

// rename is a former command, and the command that replaced it with the flags to use.
type rename struct{ former, current string }

func renamed() []rename {
	return []rename{
		{"organisation emails", "organisation set -email ADDRESS, or organisation show"},
		{"organisation recover", "organisation owner -recover"},
		{"organisation requests", "organisation list -requests"},
		{"organisation approve", "organisation live -approve"},
		{"organisation refuse", "organisation live -refuse"},
		{"organisation withdraw", "organisation live -withdraw"},
		{"organisation keep", "organisation delete -cancel"},
		{"webhook types", "webhook set -type TYPE"},
		{"webhook url", "webhook set -url URL"},
		{"webhook secret", "webhook show -secrets"},
		{"webhook delivery", "webhook show -delivery ID"},
		{"webhook test", "webhook simulate -type webhook.test"},
		{"endpoint rename", "endpoint set -name NAME"},
		{"endpoint override", "endpoint set -override YAML"},
		{"platform list", "platform show"},
		{"client show", "client list -id ID"},
		{"client origins", "client set -origin ORIGIN"},
		{"registration callback", "registration show -callback"},
		{"catalog source show", "catalog source list -id ID"},
		{"catalog allow", "catalog hosts -allow"},
		{"catalog refuse", "catalog hosts -refuse"},
		{"catalog hide", "catalog set -hide"},
		{"catalog unhide", "catalog set -unhide"},
		{"catalog merge", "catalog set -merge-into BRAND"},
		{"catalog alias", "catalog set -alias NAME"},
		{"catalog rename", "catalog set -name NAME"},
	}
}

// movedTo returns a usageError that states the new spelling if words begin with a former command, and nil otherwise.
func movedTo(words []string) error {
	for n := min(len(words), mostWords); n > 1; n-- {
		former := strings.Join(words[:n], " ")
		for _, r := range renamed() {
			if r.former == former {
				return misused("ctl %s is now ctl %s", former, r.current)
			}
		}
	}
	return nil
}
