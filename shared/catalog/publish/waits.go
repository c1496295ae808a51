package publish

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/ledger"
)

// sandboxPlatform is the platform of the stack's own sandbox.
const sandboxPlatform = "sandbox"

// knows returns a function that looks up the platform whose profile contains the host of a FHIR base. The sandbox is
// served from the stack's own host.
func (p Publisher) knows(mode string) func(base string) string {
	return func(base string) string {
		switch {
		case catalog.IsSandbox(p.BaseURL, mode, base):
			return sandboxPlatform
		case p.Platform == nil:
			return ""
		}
		return p.Platform(base)
	}
}

// waitsOf summarises the servers that await an operator's approval. Since does not change as long as at least one
// server is waiting.
func waitsOf(waiting []compose.Wait, before ledger.Waits, now time.Time) ledger.Waits {
	if len(waiting) == 0 {
		return ledger.Waits{}
	}
	sum := sha256.New()
	for _, w := range waiting {
		fmt.Fprintf(sum, "%q %q %q %q %q\n", w.Host, w.Why, w.Source, w.BrandID, w.Platform)
	}
	now = now.UTC()
	if before.ID != "" {
		now = before.Since
	}
	return ledger.Waits{
		ID: hex.EncodeToString(sum.Sum(nil)[:8]), Since: now, Hosts: len(ByHost(waiting)),
		Servers: len(waiting),
	}
}

// Host is a host whose servers await an operator's approval, in the form that catalog diff prints.
type Host struct {
	Host      string              `json:"host"`
	IsKnown   bool                `json:"known"` // whether a platform's profile contains the host
	Servers   int                 `json:"servers"`
	Because   map[compose.Why]int `json:"because"`
	Sources   []string            `json:"sources"`
	Platforms []string            `json:"platforms,omitempty"` // platforms stated by the sources
	First     []Joining           `json:"first"`
}

// Joining describes a server that awaits approval.
type Joining struct {
	Listing string   `json:"listing"`
	Brand   string   `json:"brand,omitempty"` // brand to which the server would belong
	BrandID string   `json:"brand_id,omitempty"`
	Present []string `json:"brand_hosts,omitempty"` // the brand's current hosts
}

// firstJoinings is the maximum number of servers listed per host.
const firstJoinings = 5

// ByHost groups the waiting servers by host, listing the hosts with the most servers first.
func ByHost(waiting []compose.Wait) []Host {
	at := map[string]int{}
	var hosts []Host
	for _, w := range waiting {
		i, seen := at[w.Host]
		if !seen {
			i = len(hosts)
			at[w.Host] = i
			hosts = append(hosts, Host{Host: w.Host, IsKnown: w.IsKnown, Because: make(map[compose.Why]int)})
		}
		h := &hosts[i]
		h.Servers++
		h.Because[w.Why]++
		h.Sources = with(h.Sources, w.Source)
		if w.Platform != "" {
			h.Platforms = with(h.Platforms, w.Platform)
		}
		if len(h.First) < firstJoinings {
			h.First = append(h.First, Joining{w.Listing, w.Brand, w.BrandID, w.Present})
		}
	}
	slices.SortStableFunc(hosts,
		func(a, b Host) int { return cmp.Or(cmp.Compare(b.Servers, a.Servers), cmp.Compare(a.Host, b.Host)) })
	return hosts
}

// with adds a text to a sorted list unless the list already contains it.
func with(texts []string, more string) []string {
	i, found := slices.BinarySearch(texts, more)
	if found {
		return texts
	}
	return slices.Insert(texts, i, more)
}
