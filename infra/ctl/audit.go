package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/shared/manage/audit"
)

func auditCommands() []command {
	return []command{
		{
			name: "audit list", flags: "[-org ID] [-before N] [-limit N]", declare: listAudit,
			help: "Lists an organisation's audit log, or without -org the log of shared resources, newest first",
		},
		{
			name: "audit export", flags: "[-org ID]", declare: exportAudit,
			help: "Prints the whole audit chain as JSON lines, ending with its head",
		},
		{
			name: "audit verify", flags: "[-org ID] [-head SEQ:HASH ...]\n-file FILE [-head SEQ:HASH ...]", offline: true,
			declare: verifyAudit,
			help: "Verifies an audit chain, in the table or in a file from audit export, and reports missing, " +
				"changed, added, swapped or truncated rows; -head is an earlier head to check against",
		},
	}
}

// chainFlag adds the flag that selects an audit chain.
func chainFlag(flags *flag.FlagSet) func(context.Context, session) (orgID string, err error) {
	id := flags.String("org", "", "organisation `id` or name (default: shared resources)")
	return func(ctx context.Context, s session) (string, error) {
		if *id == "" {
			return "", nil
		}
		return s.organisation(ctx, *id)
	}
}

type auditShown struct {
	Seq     int64          `json:"seq"`
	At      time.Time      `json:"at"`
	Mode    string         `json:"mode,omitempty"`
	Actor   string         `json:"actor"`
	From    string         `json:"from,omitempty"`
	Action  string         `json:"action"`
	Target  string         `json:"target"`
	Changes []audit.Change `json:"changes,omitempty"`
}

func listAudit(flags *flag.FlagSet) action {
	chain := chainFlag(flags)
	before := flags.Int64("before", 0, "continue before this `number`, which is next on the previous page")
	limit := flags.Int("limit", 50, "maximum number of rows, 1 to 100")
	return func(ctx context.Context, s session) (any, error) {
		orgID, err := chain(ctx, s)
		if err != nil {
			return nil, err
		}
		if *limit < 1 || *limit > 100 {
			return nil, misused("-limit must be from 1 to 100")
		}
		if *before < 0 {
			return nil, misused("-before must be a row number")
		}
		rows, next, err := wiring.AuditLog(s.stack.Config, s.stack.Outputs).List(ctx, orgID, *before, *limit)
		shown := make([]auditShown, 0, len(rows))
		for _, row := range rows {
			shown = append(shown, auditShown{
				Seq: row.Seq, At: row.At, Mode: string(row.Tenant.Mode), Actor: row.Actor, From: row.From, Action: row.Action,
				Target: row.Target, Changes: row.Changes,
			})
		}
		return map[string]any{"rows": shown, "next": next}, err
	}
}

func exportAudit(flags *flag.FlagSet) action {
	chain := chainFlag(flags)
	return func(ctx context.Context, s session) (any, error) {
		orgID, err := chain(ctx, s)
		if err != nil {
			return nil, err
		}
		_, err = wiring.AuditLog(s.stack.Config, s.stack.Outputs).Export(ctx, orgID, s.out)
		return nil, err
	}
}

func verifyAudit(flags *flag.FlagSet) action {
	chain, file := chainFlag(flags), flags.String("file", "", "`file` written by audit export; - for standard input")
	var told heads
	flags.Var(&told, "head", "`SEQ:HASH`, a head reported earlier by doctor, audit export or audit verify")
	return func(ctx context.Context, s session) (any, error) {
		if given(flags, "file") && given(flags, "org") {
			return nil, misused("-file and -org can't be combined")
		}
		report, err := s.verified(ctx, chain, *file, told)
		if err == nil && !report.IsIntact() {
			err = &brokenChainError{report}
		}
		if err != nil {
			return nil, err
		}
		return report, nil
	}
}

func (s session) verified(ctx context.Context, chain func(context.Context, session) (string, error), file string,
	told heads,
) (audit.Report, error) {
	if file == "" {
		var err error
		if s, err = s.open(ctx); err != nil {
			return audit.Report{}, err
		}
		orgID, err := chain(ctx, s)
		if err != nil {
			return audit.Report{}, err
		}
		return wiring.AuditLog(s.stack.Config, s.stack.Outputs).Verify(ctx, orgID, told...)
	}
	if file == "-" {
		return audit.VerifyExport(s.input, told...)
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return audit.Report{}, fmt.Errorf("-file: %w", err)
	}
	return audit.VerifyExport(bytes.NewReader(text), told...)
}

// brokenChainError reports the position of the first broken link of an audit chain.
type brokenChainError struct{ report audit.Report }

func (u *brokenChainError) Error() string {
	return "the chain is broken: see docs/operate/audit.md, Broken chain"
}

func (u *brokenChainError) shown() any { return u.report }

// heads is a repeatable flag that collects chain heads.
type heads []audit.Head

// String implements flag.Value.
func (h *heads) String() string {
	text, err := json.Marshal([]audit.Head(*h))
	if err != nil {
		return ""
	}
	return string(text)
}

// Set implements flag.Value.
func (h *heads) Set(value string) error {
	number, hash, _ := strings.Cut(value, ":")
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil || seq < 1 || len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != "" {
		return errors.New("the value is not a number, a colon and 64 hexadecimal digits")
	}
	*h = append(*h, audit.Head{Seq: seq, Hash: hash})
	return nil
}
