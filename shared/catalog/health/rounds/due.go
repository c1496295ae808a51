package rounds

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	// mostProbes limits the endpoints probed per run. mostOfHost limits the endpoints probed per host, and mostRetries
	// limits the failing endpoints probed per host. Endpoints that exceed a limit stay due for the next run.
	mostProbes  = 240
	mostOfHost  = 6
	mostRetries = 1
)

// due returns the endpoints to probe in a run, grouped by host, longest overdue first. total counts all due endpoints,
// including those beyond a limit.
func (r *Rounds) due(now time.Time) (hosts [][]*entry, total int) {
	var all []*entry
	for _, w := range r.states {
		for _, e := range w.entries {
			if !e.dueAt.After(now) && r.Admits(e.Base) {
				all = append(all, e)
			}
		}
	}
	slices.SortFunc(all, func(x, y *entry) int { return cmp.Or(x.dueAt.Compare(y.dueAt), cmp.Compare(x.ID, y.ID)) })
	index, retries, taken := map[string]int{}, map[string]int{}, 0
	for _, e := range all {
		host := hostOf(e.Base)
		i, there := index[host]
		if taken == mostProbes || there && len(hosts[i]) == mostOfHost {
			continue
		}
		if e.record.Failures > 0 {
			if retries[host] == mostRetries {
				continue
			}
			retries[host]++
		}
		if !there {
			i = len(hosts)
			index[host], hosts = i, append(hosts, nil)
		}
		hosts[i], taken = append(hosts[i], e), taken+1
	}
	return hosts, len(all)
}

// hostOf returns a URL's host without the port. Servers on different ports of a host are treated as one machine.
func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
