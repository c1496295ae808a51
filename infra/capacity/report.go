package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"recordbridge/infra/capacity/journey"
)

// report is the whole of it, with the limits that are reached within so many times the load, or all if that is 0.
func (m *model) report(within float64) string {
	var b strings.Builder
	l := m.load
	tables, files := m.stored()
	fmt.Fprintf(&b, "%s connections; a day %s exports, %s sign-ins, %s deliveries, %s searches; the busiest hour has %s times the mean.\n",
		number(l.connections), number(l.exports), number(l.connects), number(l.webhooks), number(l.searches), number(l.peak))
	fmt.Fprintf(&b, "Tables hold %s GB, files %s GB.\n\n", number(tables), number(files))
	m.writeLimits(&b, within)
	m.writeBill(&b)
	fmt.Fprintf(&b, "\nA connection costs %s dollars a month beyond the idle stack. Not confirmed: %d of %d figures (infra/capacity/figures.csv).\n",
		number((total(m.bill())-total(m.idle().bill()))/max(1, l.connections)), len(m.figures.unconfirmed), len(m.figures.values))
	return b.String()
}

// writeLimits tells the limits, and of those that are near what to do.
func (m *model) writeLimits(b *strings.Builder, within float64) {
	all := m.limits()
	fmt.Fprintf(b, "%-72s %9s %9s %10s  %s\n", "Limit", "busiest", "most", "reached at", "whose")
	for i, l := range all {
		if within > 0 && i > 0 && l.at() > within {
			fmt.Fprintf(b, "%d more are reached beyond %s times this load.\n", len(all)-i, number(within))
			break
		}
		fmt.Fprintf(b, "%-72s %9s %9s %10s  %s\n", l.name, number(l.used), number(l.most), number(l.at())+" x", l.whose)
	}
	b.WriteString("\n")
	fmt.Fprintf(b, "First: %s, at %s connections.\n", all[0].name, number(all[0].at()*m.load.connections))
	advised := map[string]bool{}
	for i, l := range all {
		if !advised[l.then] && (l.at() <= 10 || i == 0) {
			advised[l.then] = true
			fmt.Fprintf(b, "- at %s x: %s\n", number(l.at()), l.then)
		}
	}
	b.WriteString("\n")
}

// idle is the same stack with nobody in it.
func (m *model) idle() *model {
	none := *m
	none.load = m.load.idle()
	return &none
}

func (m *model) writeBill(b *strings.Builder) {
	fmt.Fprintf(b, "%-48s %14s %14s\n", "Dollars a month, list prices, us-east-1", "idle", "this load")
	idle, lines := map[string]float64{}, m.bill()
	for _, line := range m.idle().bill() {
		idle[line.service] = line.dollars
		idle["all"] += line.dollars
	}
	slices.SortStableFunc(lines, func(a, b item) int { return cmp.Compare(b.dollars, a.dollars) })
	for _, line := range append(lines, item{"all", total(lines)}) {
		fmt.Fprintf(b, "%-48s %14s %14s\n", line.service, dollars(idle[line.service]), dollars(line.dollars))
	}
}

func dollars(amount float64) string {
	if amount < 1000 {
		return strconv.FormatFloat(amount, 'f', 2, 64)
	}
	return number(amount)
}

// number writes two significant digits, and thousands apart.
func number(n float64) string {
	if n == 0 || math.IsInf(n, 0) {
		return "0"
	}
	if math.Abs(n) < 100 {
		return strconv.FormatFloat(round(n), 'f', -1, 64)
	}
	text := strconv.FormatFloat(round(n), 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func round(n float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 2, 64), 64)
	if err != nil {
		return n
	}
	return rounded
}

// journeys tells what each journey takes.
func (m *model) journeys() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s %11s %9s %11s %12s %20s\n", "Journey", "invocations", "AWS calls", "read units", "write units", "dollars for 1,000")
	told := map[string]bool{}
	for _, c := range m.table {
		if told[c.Journey] || m.load.journeys()[c.Journey] == 0 {
			continue
		}
		told[c.Journey] = true
		only := *m
		only.load.organisations, only.load.cold = 0, 0 // whose mails and processes are nobody's journey
		u := only.used(map[string]float64{c.Journey: 1})
		calls := beginning(u.calls, "") - of(u.calls, "lambda Invoke", "logs Line") - beginning(u.calls, journey.Outside)
		fmt.Fprintf(&b, "%-16s %11s %9s %11s %12s %20s\n", c.Journey, number(u.calls["lambda Invoke"]), number(calls),
			number(beginning(u.reads, "")), number(beginning(u.writes, "")), number(total(only.running(u))/daysOfAMonth*1000))
	}
	return b.String()
}
