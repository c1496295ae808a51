package store_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/fault"
)

// TestTakeMatchesInMemoryGCRA checks that the stored bucket makes the same decisions as the in-memory algorithm for any
// limit and request rate.
func TestTakeMatchesInMemoryGCRA(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	var buckets atomic.Int64
	rapid.Check(t, func(r *rapid.T) {
		limit := ratelimit.Limit{
			Quota:  rapid.IntRange(1, 8).Draw(r, "quota"),
			Window: time.Duration(rapid.IntRange(1, 60).Draw(r, "window")) * time.Second,
		}
		bucket := taskNumber(int(buckets.Add(1)))
		at, tat := now, time.Time{}
		for range rapid.IntRange(1, 20).Draw(r, "requests") {
			at = at.Add(time.Duration(rapid.IntRange(0, 10_000).Draw(r, "pause")) * time.Millisecond)
			got, err := s.flow.Take(t.Context(), bucket, limit, at)
			if err != nil {
				r.Fatal(err)
			}
			var want ratelimit.Decision
			tat, want = ratelimit.GCRA(tat, at, limit)
			tat = tat.Truncate(time.Microsecond) // rows store times in microseconds
			if got != want {
				r.Fatalf("decision at %v = %+v, want %+v", at, got, want)
			}
		}
	})
}

func TestTakeLimitsBurstToQuota(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	limit := ratelimit.Limit{Quota: 7, Window: time.Minute}
	burst := func(at time.Time) int {
		return expect.Winners(t, 40, func(ctx context.Context, _ int) error {
			decision, err := s.flow.Take(ctx, "bucket", limit, at)
			if err == nil && !decision.Allowed {
				if decision.RetryAfter <= 0 {
					t.Errorf("refused with %+v: it says no time to wait", decision)
				}
				return fault.Stale()
			}
			return err
		})
	}
	if got := burst(now); got != limit.Quota {
		t.Errorf("%d of a first burst passed, want %d", got, limit.Quota)
	}
	before := s.writes.Load()
	if got := burst(now); got != 0 {
		t.Errorf("%d of a second burst passed, want 0", got)
	}
	if after := s.writes.Load(); after != before {
		t.Errorf("refused requests wrote %d times", after-before)
	}
	if got := burst(now.Add(3 * limit.Interval())); got != 3 {
		t.Errorf("%d passed after three intervals, want 3", got)
	}
}

// meddling is a client that runs meddle between Take's first and second updates.
type meddling struct {
	*dynamodb.Client

	meddle  func(in *dynamodb.UpdateItemInput)
	updates int
}

func (m *meddling) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	m.updates++
	if m.updates == 2 {
		m.meddle(in)
	}
	return m.Client.UpdateItem(ctx, in, o...)
}

func TestTakeNeverGrantsLastSlotTwice(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	limit := ratelimit.Limit{Quota: 2, Window: time.Minute}
	take := func(from stores) bool {
		decision, err := from.flow.Take(t.Context(), "bucket", limit, now)
		expect.NoError(t, err)
		return decision.Allowed
	}
	if !take(s) {
		t.Fatal("the first request was refused")
	}
	db := &meddling{Client: s.db}
	db.meddle = func(*dynamodb.UpdateItemInput) {
		if !take(s) {
			t.Error("the request that came in between was refused")
		}
	}
	if take(over(db, s.names)) {
		t.Error("a third request passed: it was decided on a time that another had moved")
	}
}

func TestTakeStartsNewBucketWhenRowIsDeleted(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	limit := ratelimit.Limit{Quota: 2, Window: time.Minute}
	_, err := s.flow.Take(t.Context(), "bucket", limit, now)
	expect.NoError(t, err)
	db := &meddling{Client: s.db}
	db.meddle = func(in *dynamodb.UpdateItemInput) { // simulates DynamoDB's deletion of an expired row
		_, failure := s.db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: in.TableName, Key: in.Key})
		expect.NoError(t, failure)
	}
	decision, err := over(db, s.names).flow.Take(t.Context(), "bucket", limit, now)
	expect.NoError(t, err)
	if !decision.Allowed || decision.Remaining != 1 {
		t.Errorf("decision = %+v, want that of a fresh bucket", decision)
	}
	if db.updates != 3 {
		t.Errorf("%d updates, want 3: refused, vanished, created", db.updates)
	}
}

func TestBucketExpiresOneHourAfterRefill(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	_, err := s.flow.Take(t.Context(), "bucket", ratelimit.Limit{Quota: 2, Window: time.Minute}, now)
	expect.NoError(t, err)
	out, err := s.db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: new(s.names["FlowTable"]),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "RL#bucket"}, "sk": &types.AttributeValueMemberS{Value: "META"},
		},
	})
	expect.NoError(t, err)
	full := now.Add(30 * time.Second)
	want := map[string]any{
		"pk": "RL#bucket", "sk": "META", "tat": fmt.Sprint("number ", full.UnixMicro()),
		"ttl": fmt.Sprint("number ", full.Add(time.Hour).Unix()),
	}
	if diff := cmp.Diff(want, plain(out.Item)); diff != "" {
		t.Errorf("bucket (-want +got):\n%s", diff)
	}
}
