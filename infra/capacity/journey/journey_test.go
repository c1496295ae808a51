package journey_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/capacity/journey"
	"recordbridge/infra/testkit/expect"
)

// row is a journey's row in the table in docs/operate/scaling.md.
type row struct {
	Invocations, Calls int
	Reads, Writes      float64
}

func TestTableMatchesScalingDocument(t *testing.T) {
	t.Parallel()
	table, err := journey.Table()
	expect.NoError(t, err)
	counted := map[string]row{}
	for _, c := range table {
		if slices.Contains([]string{"cold start", "kept"}, c.Journey) {
			continue
		}
		r := counted[c.Journey]
		switch c.Service {
		case journey.Lambda:
			r.Invocations += c.Calls
		case journey.Logs, journey.Outside:
		default:
			r.Calls += c.Calls
		}
		r.Reads, r.Writes = r.Reads+c.Reads, r.Writes+c.Writes
		counted[c.Journey] = r
	}
	if diff := cmp.Diff(counted, documented(t)); diff != "" {
		t.Errorf("docs/operate/scaling.md (-counted +document):\n%s", diff)
	}
}

func documented(t *testing.T) map[string]row {
	t.Helper()
	text, err := os.ReadFile("../../../docs/operate/scaling.md")
	expect.NoError(t, err)
	_, section, _ := strings.Cut(string(text), "\n| Journey |")
	section, _, _ = strings.Cut(section, "\n\n")
	rows := map[string]row{}
	for _, line := range strings.Split(section, "\n")[2:] {
		cells := strings.Split(line, "|")
		numbers := make([]float64, 0, 4)
		for _, cell := range cells[2:6] {
			number, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
			expect.NoError(t, err)
			numbers = append(numbers, number)
		}
		rows[strings.TrimSpace(cells[1])] = row{int(numbers[0]), int(numbers[1]), numbers[2], numbers[3]}
	}
	return rows
}
