package dashboardorg

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/timestamp"
)

const pageOfRows = 50

type wanted struct {
	Before string `query:"before"`
	Actor  string `query:"actor"`
	Action string `query:"action"`
	Target string `query:"target"`
	From   string `query:"from"`
	To     string `query:"to"`
}

type rowList struct {
	Rows []row `json:"rows"`           // newest first
	Next int64 `json:"next,omitempty"` // before parameter for the next page; omitted on the last page
}

type row struct {
	Seq     int64          `json:"seq"`
	At      string         `json:"at"` // RFC 3339 time
	Mode    string         `json:"mode,omitempty"`
	Actor   string         `json:"actor"`
	From    string         `json:"from,omitempty"` // ctl or a truncated network
	Action  string         `json:"action"`
	Target  string         `json:"target"`
	Changes []audit.Change `json:"changes,omitempty"`
	Hash    string         `json:"hash"`
}

// chain holds the complete audit log in NDJSON format.
type chain struct {
	NDJSON string `json:"ndjson"`
	Seq    int64  `json:"seq"`
	Hash   string `json:"hash"`
}

func (d Deps) audit(ctx context.Context, v httpapi.Visitor, in wanted) (rowList, error) {
	var seq int64
	if in.Before != "" {
		var err error
		if seq, err = strconv.ParseInt(in.Before, 10, 64); err != nil || seq < 1 {
			return rowList{}, fault.BadRequest("before must be the number of an audit log entry.").About("before")
		}
	}
	filter, err := in.filter()
	if err != nil {
		return rowList{}, err
	}
	found, next, err := d.Audit.Search(ctx, v.Org, filter, seq, pageOfRows)
	if err != nil {
		return rowList{}, err
	}
	shown := rowList{Rows: make([]row, 0, len(found)), Next: next}
	for _, r := range found {
		shown.Rows = append(shown.Rows, row{
			Seq: r.Seq, At: timestamp.Of(r.At), Mode: string(r.Tenant.Mode), Actor: r.Actor, From: r.From, Action: r.Action,
			Target: r.Target, Changes: r.Changes, Hash: r.Hash,
		})
	}
	return shown, nil
}

func (in wanted) filter() (audit.Filter, error) {
	f := audit.Filter{Actor: in.Actor, Action: in.Action, Target: in.Target}
	for _, bound := range []struct {
		field, text string
		to          *time.Time
	}{{"from", in.From, &f.From}, {"to", in.To, &f.To}} {
		at, err := timestamp.Parse(bound.text)
		if err != nil {
			return audit.Filter{}, fault.BadRequest(bound.field + " must be an RFC 3339 timestamp.").About(bound.field)
		}
		*bound.to = at
	}
	return f, nil
}

func (d Deps) export(ctx context.Context, v httpapi.Visitor, _ nothing) (chain, error) {
	var file bytes.Buffer
	head, err := d.Audit.Export(ctx, v.Org, &file)
	return chain{NDJSON: file.String(), Seq: head.Seq, Hash: head.Hash}, err
}
