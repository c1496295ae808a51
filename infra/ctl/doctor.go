package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
)

func doctorCommands() []command {
	return []command{{
		name: "doctor", offline: true, declare: examine,
		help: "Checks a deployment: outputs, keys, clock, queues, alarms, firewall, webhooks, institutions, URLs, audit " +
			"rows and mail; exits with 1 and suggests fixes if a check fails",
	}}
}

// finding is the result of a check. A check also returns findings for anything that it can't inspect.
type finding struct {
	Check string `json:"check"`
	State string `json:"state"` // result: "ok", "wrong" or "not_seen"
	What  string `json:"what"`
	Do    string `json:"do,omitempty"`
}

func fine(what string, args ...any) finding {
	return finding{State: "ok", What: fmt.Sprintf(what, args...)}
}

func amiss(do, what string, args ...any) finding {
	return finding{State: "wrong", What: fmt.Sprintf(what, args...), Do: do}
}

// notInspected returns a finding for something that can't be inspected. do describes the remedy.
func notInspected(do, what string, args ...any) finding {
	return finding{State: "not_seen", What: fmt.Sprintf(what, args...), Do: do}
}

// check is a named check of the doctor command. Checks with byRules set require an open Operator, which needs the stack
// outputs and the hashing secret that other checks verify.
type check struct {
	name    string
	byRules bool
	look    func(ctx context.Context, s session) []finding
}

func checks() []check {
	return []check{
		{"outputs", false, checkOutputs},
		{"secrets and keys", false, checkKeys},
		{"service and clock", false, checkService},
		{"queues", false, checkQueues},
		{"alarms", false, checkAlarms},
		{"firewall", false, checkFirewall},
		{"webhooks", true, checkWebhooks},
		{"institutions", true, checkInstitutions},
		{"URLs", true, checkURLs},
		{"audit rows", true, checkAudit},
		{"mail", false, checkMail},
	}
}

func examine(*flag.FlagSet) action {
	return func(ctx context.Context, s session) (any, error) {
		s, closed := s.open(ctx)
		if closed != nil && s.stack.Outputs == nil {
			return nil, closed
		}
		var all []finding
		for _, c := range checks() {
			look := c.look
			if closed != nil && c.byRules {
				look = func(context.Context, session) []finding {
					return []finding{amiss("Fix the outputs and KeyHashingSecret first.", "The check can't run: "+
						"%v.", closed)}
				}
			}
			for _, f := range look(ctx, s) {
				f.Check = c.name
				all = append(all, f)
			}
		}
		sick := slices.ContainsFunc(all, func(f finding) bool { return f.State == "wrong" })
		shown := map[string]any{"findings": all, "healthy": !sick}
		if sick {
			return nil, &failedCheckError{shown}
		}
		return shown, nil
	}
}

// failedCheckError reports the findings of failed checks.
type failedCheckError struct{ found any }

func (*failedCheckError) Error() string {
	return "the deployment has problems: see the findings above"
}

func (s *failedCheckError) shown() any { return s.found }
