package dashboardorg

import (
	"context"
	"encoding/csv"
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/usage"
	"recordbridge/shared/words/fault"
)

// mostMonths is the maximum number of months per request. month is the time layout of a month.
const (
	mostMonths = 25
	month      = "2006-01"
)

type span struct {
	From   string `query:"from"` // first month; defaults to the current month
	To     string `query:"to"`   // defaults to From
	Format string `query:"format"`
}

type usageOf struct {
	Months []usage.Month `json:"months"`        // oldest first
	CSV    string        `json:"csv,omitempty"` // the same data as CSV, if the format parameter requests it
}

func (d Deps) usage(ctx context.Context, v httpapi.Visitor, in span) (usageOf, error) {
	first, last, err := in.months(d.Now())
	if err != nil {
		return usageOf{}, err
	}
	shown := usageOf{Months: []usage.Month{}}
	for at := first; !at.After(last); at = at.AddDate(0, 1, 0) {
		m, failure := d.Meter.Month(ctx, v.Tenant, at.Format(month))
		if failure != nil {
			return usageOf{}, failure
		}
		shown.Months = append(shown.Months, m)
	}
	if in.Format == "csv" {
		shown.CSV, err = file(shown.Months)
	}
	return shown, err
}

func (in span) months(now time.Time) (first, last time.Time, err error) {
	if in.From == "" {
		in.From = now.UTC().Format(month)
	}
	if in.To == "" {
		in.To = in.From
	}
	first, err = time.Parse(month, in.From)
	if err == nil {
		last, err = time.Parse(month, in.To)
	}
	if err != nil || last.Before(first) || !last.Before(first.AddDate(0, mostMonths, 0)) {
		return first, last, fault.BadRequest("from and to must be months, such as 2026-03, and span at most 25 " +
			"months.").Because(err)
	}
	if in.Format != "" && in.Format != "csv" {
		return first, last, fault.BadRequest("format must be csv.").About("format")
	}
	return first, last, nil
}

func file(months []usage.Month) (string, error) {
	var text strings.Builder
	lines := make([][]string, 0, 1+len(months))
	lines = append(lines, []string{
		"month", "connections", "rejections", "revocations", "exports_succeeded",
		"exports_failed", "inquiries", "deliveries",
	})
	for _, m := range months {
		counts := []int64{
			m.Connections, m.Rejections, m.Revocations, m.ExportsSucceeded, m.ExportsFailed, m.Inquiries,
			m.Deliveries,
		}
		line := append(make([]string, 0, 1+len(counts)), m.Month)
		for _, n := range counts {
			line = append(line, strconv.FormatInt(n, 10))
		}
		lines = append(lines, line)
	}
	err := csv.NewWriter(&text).WriteAll(lines)
	return text.String(), err
}
