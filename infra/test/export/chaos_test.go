package exporttest_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/export"
)

const (
	chaosSeeds = 25
	shortSeeds = 8
	soakSeeds  = 100
	longSeeds  = 500
	// chaosMishaps is the maximum number of failures per request. The engine sends each request up to five times.
	chaosMishaps = 2
	// chaosDeaths is the maximum number of worker runs that end prematurely.
	chaosDeaths = 4
)

// chaosSwitches lists the possible behaviours of a chaotic server. Each chaotic server has at least one of these
// switches, and an export must cope with every combination.
func chaosSwitches() []string {
	return []string{
		"outcome-entry", "session-next", "careplan-404", "suppressed-category:imaging", "reject-count", "unsupported-500",
		"unknown-404-html", "missing-ref-500", "rate-headers", "limit-seconds:7", "limit-date:11", "search-503:5",
		"absolute-ref", "next-internal", "next-relative", "slow:2s", "binary-not-json", "no-total", "total-page",
		"no-provenance", "require-intent", "require-date", "require-category", "attachment-urls", "duplicate-entries",
		"invalid-entry", "other-patient", "version:dstu2", "version:stu3", "access:60s", "everything",
		"id-list:ignored", "id-list:half",
	}
}

// contradict reports whether two switches are mutually exclusive. For example, one switch may require a parameter that
// the other makes unsupported.
func contradict(a, b string) bool {
	requires := func(s string) bool { return s == "require-intent" || s == "require-date" }
	return a == "unsupported-500" && requires(b) || b == "unsupported-500" && requires(a)
}

func chaos(t *testing.T, seed uint64) scenario {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, 1))
	var chosen []string
	for range 1 + dice.IntN(4) {
		one := chaosSwitches()[dice.IntN(len(chaosSwitches()))]
		name, _, _ := strings.Cut(one, ":")
		if !slices.ContainsFunc(chosen, func(c string) bool {
			return c == one || strings.HasPrefix(c, name+":") ||
				contradict(c, one)
		}) {
			chosen = append(chosen, one)
		}
	}
	deaths := make([]int, chaosDeaths)
	for i := range deaths {
		deaths[i] = 1 + dice.IntN(120)
	}
	late, hurried := dice.IntN(2) == 0, dice.IntN(2) == 0
	s := scenario{
		person: named(t, paged[0]), switches: strings.Join(chosen, ","), label: fmt.Sprintf("chaos-%d", seed),
		mishap: func(address string, nth int) mishap { return mishapOf(seed, address, nth) },
		lives: func(run int) (int, bool) {
			if run > len(deaths) {
				return 0, false
			}
			return deaths[run-1], late
		},
	}
	if hurried {
		s.deadline = func(run int) time.Duration { return time.Duration(76+7*run) * time.Second }
	}
	return s
}

// mishapOf chooses whether and how a request fails. The choice depends on the URL and the attempt number, not on the
// order of concurrent requests.
func mishapOf(seed uint64, address string, nth int) mishap {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %d", seed, address, nth))
	kind, detail := binary.BigEndian.Uint16(sum[:])%100, int(sum[2])
	if nth > chaosMishaps {
		kind = 100
	}
	switch {
	case kind < 4:
		return mishap{status: 429, retryAfter: strconv.Itoa(1 + detail%45)}
	case kind < 7:
		return mishap{status: 503, retryAfter: strconv.Itoa(1 + detail%9)}
	case kind < 9:
		return mishap{status: []int{502, 503, 504}[detail%3]}
	case kind < 12:
		return mishap{refused: true}
	case kind < 15:
		return mishap{lost: true}
	case kind < 17:
		return mishap{cut: true}
	case kind < 22:
		return mishap{late: time.Duration(1+detail%40) * time.Second}
	}
	return mishap{}
}

func TestExportFileIsIdenticalDespiteChaos(t *testing.T) {
	t.Parallel()
	seeds := uint64(chaosSeeds)
	if testing.Short() {
		seeds = shortSeeds
	}
	if soaking() {
		seeds = soakSeeds
	}
	if soakingLong() {
		seeds = longSeeds
	}
	first := uint64(0)
	if only, err := strconv.ParseUint(os.Getenv("RECORDBRIDGE_SEED"), 10, 64); err == nil {
		first, seeds = only, 1
	}
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { checkChaos(t, chaos(t, seed)) })
		})
	}
}

// checkChaos compares an export from a chaotic server with the content that the server holds. In a soak test, it also
// compares the file with that of an export from the same server without failures. The resources must be byte-identical
// in both files.
func checkChaos(t *testing.T, s scenario) {
	t.Helper()
	rough := s.run(t)
	t.Logf("%q: %d runs, %v", s.switches, rough.runs, rough.took)
	if rough.task.Status != export.Success {
		t.Fatalf("status %s, reason %s", rough.task.Status, rough.task.FailureReason)
	}
	v := checkWhole(t, rough)
	if !soaking() {
		return
	}
	calm := s
	calm.mishap, calm.lives, calm.deadline = nil, nil, nil
	quiet := checkWhole(t, calm.run(t))
	if !slices.Equal(v.lines, quiet.lines) {
		t.Error("the lines differ from those of an export without accidents")
	}
}
