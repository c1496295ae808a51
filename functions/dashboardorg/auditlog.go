package dashboardorg

import (
	"bytes"
	"context"
	"strconv"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/timestamp"
)

const pageOfRows = 50

type before struct {
	Seq string `query:"before"`
}

type rowList struct {
	Rows []row `json:"rows"`           // newest first
	Next int64 `json:"next,omitempty"` // before parameter for the next page; omitted on the last page
}

type row struct {
	Seq    int64  `json:"seq"`
	At     string `json:"at"` // RFC 3339 time
	Mode   string `json:"mode,omitempty"`
	Actor  string `json:"actor"`
	Action string `json:"action"`
	Target string `json:"target"`
	Hash   string `json:"hash"`
}

// chain holds the complete audit log in NDJSON format.
type chain struct {
	NDJSON string `json:"ndjson"`
	Seq    int64  `json:"seq"`
	Hash   string `json:"hash"`
}

func (d Deps) audit(ctx context.Context, v httpapi.Visitor, in before) (rowList, error) {
	var seq int64
	if in.Seq != "" {
		var err error
		if seq, err = strconv.ParseInt(in.Seq, 10, 64); err != nil || seq < 1 {
			return rowList{}, fault.BadRequest("before must be the number of an audit log entry.").About("before")
		}
	}
	found, next, err := d.Audit.List(ctx, v.Org, seq, pageOfRows)
	if err != nil {
		return rowList{}, err
	}
	shown := rowList{Rows: make([]row, 0, len(found)), Next: next}
	for _, r := range found {
		shown.Rows = append(shown.Rows, row{
			Seq: r.Seq, At: timestamp.Of(r.At), Mode: string(r.Tenant.Mode), Actor: r.Actor, Action: r.Action,
			Target: r.Target, Hash: r.Hash,
		})
	}
	return shown, nil
}

func (d Deps) export(ctx context.Context, v httpapi.Visitor, _ nothing) (chain, error) {
	var file bytes.Buffer
	head, err := d.Audit.Export(ctx, v.Org, &file)
	return chain{NDJSON: file.String(), Seq: head.Seq, Hash: head.Hash}, err
}
