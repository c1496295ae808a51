package tokens_test

import (
	"context"
	"testing"

	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/tokens"
)

// waiting is an EHR with something left to do once a set is stored.
type waiting struct {
	tokens.Refresher

	stored func(ctx context.Context)
	empty  bool // the answer brings no access token
}

func (p waiting) Refresh(ctx context.Context, owner org.Tenant, old tokens.Set) (tokens.Set, error) {
	fresh, err := p.Refresher.Refresh(ctx, owner, old)
	fresh.Stored = p.stored
	if p.empty {
		fresh.AccessToken = secret.Text{}
	}
	return fresh, err
}

func TestWhatCanWaitUntilASetIsStoredIsDoneThenAndOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		empty   bool
		version int64 // that is stored when it is done
	}{"stored": {false, 2}, "an answer without an access token": {true, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			var versions []int64
			keeper := w.keeper("a")
			keeper.Refresher = waiting{w.ehr, func(ctx context.Context) {
				row, err := w.rows.Tokens(ctx, tenant, connID)
				must(t, err)
				versions = append(versions, row.Version)
			}, c.empty}
			set, _, err := keeper.Current(t.Context(), tenant, connID)
			if (err != nil) != c.empty || set.Stored != nil {
				t.Errorf("got %v; it is handed out: %t", err, set.Stored != nil)
			}
			if len(versions) != 1 || versions[0] != c.version {
				t.Errorf("done while versions %v were stored, want once, %d", versions, c.version)
			}
		})
	}
}
