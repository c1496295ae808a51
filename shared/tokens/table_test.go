package tokens_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recordbridge/shared/fault"
	"recordbridge/shared/secret"
	"recordbridge/shared/tokens"
)

// TestTheTableAnswersAsTheStoreDoes: what the theatre's table takes, DynamoDB takes, and leaves the same row.
func TestTheTableAnswersAsTheStoreDoes(t *testing.T) {
	t.Parallel()
	moves := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 359), 4, 4), 5, 30)
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t, time.Hour)
		w.vault = tokens.Vault{Sealer: glass{}}
		first := w.sealed(t)
		double := table{row: first}
		for _, m := range moves.Draw(r, "moves") {
			row := double.row // what a worker has read, or something else
			row.LeaseOwner = pick(m[1], []string{"a", "b"})
			row.Version += pick(m[2], []int64{0, 0, 0, 1})
			row.RefreshStartedAt = pick(m[3], []time.Time{row.RefreshStartedAt, row.RefreshStartedAt, {}, w.at})
			row.LeaseUntil = w.at.Add(time.Minute)
			var got, want error
			switch m[0] % 4 {
			case 0:
				got, want = w.rows.LeaseTokens(t.Context(), row, w.at), double.lease(row, w.at)
			case 1:
				got, want = w.rows.ReleaseTokens(t.Context(), row), double.release(row)
			case 2:
				next, err := w.vault.Seal(t.Context(), tenant, connID, row.Version+1, tokens.Set{RefreshToken: secret.New("refresh " + strconv.Itoa(m[3]))})
				must(t, err)
				got, want = w.rows.RotateTokens(t.Context(), next), double.rotate(t.Context(), next)
			default:
				w.at = w.at.Add(time.Duration(m[3]) * time.Second)
			}
			if errors.Is(got, fault.Conflict) != errors.Is(want, fault.Conflict) || (got == nil) != (want == nil) {
				r.Fatalf("the store answers %v, the table %v", got, want)
			}
			stored := w.sealed(t)
			if diff := cmp.Diff(double.row, stored); diff != "" {
				r.Fatalf("the table has -, the store has +:\n%s", diff)
			}
		}
	})
}

// sealed reads the row without opening it.
func (w *world) sealed(t *testing.T) tokens.Row {
	t.Helper()
	row, err := w.rows.Tokens(t.Context(), tenant, connID)
	must(t, err)
	return row
}
