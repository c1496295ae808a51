package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	// keepShares is the retention period of a share after its most recently acquired slot lease expires. The period
	// equals the lifetime of a task.
	keepShares  = keepTasks
	placePrefix = "place"
	taskSuffix  = "_task"
)

// Places stores tenants' shares, which limit the tenants' use of the export workers. A share records each slot's holder
// and whether tasks are waiting for a slot.
type Places Work

// Shares stores shares and the tasks that hold or await their slots.
type Shares struct {
	Places
	Tasks
}

// NewShares returns a Shares that uses the Work table.
func NewShares(work Work) Shares {
	return Shares{Places: Places(work), Tasks: Tasks(work)}
}

// Share implements share.Rows.
func (s Places) Share(ctx context.Context, tenant org.Tenant) (share.Row, error) {
	row, err := get(ctx, s.DB, s.Table, shareKey(tenant))
	if errors.Is(err, fault.NotFound) {
		return share.Row{}, nil
	}
	return shareOf(row), err
}

func shareOf(row item) share.Row {
	found := share.Row{Places: map[int]share.Holder{}, JoinedAt: row.time("joined_at")}
	for name := range row {
		middle, isPlace := strings.CutPrefix(name, placePrefix)
		middle, isTask := strings.CutSuffix(middle, taskSuffix)
		number, err := strconv.Atoi(middle)
		if !isPlace || !isTask || err != nil {
			continue
		}
		names := placeNames(number)
		found.Places[number] = share.Holder{
			TaskID: row.text(names["#task"]), Claim: row.int(names["#claim"]), Until: row.time(names["#until"]),
		}
	}
	return found
}

func placeNames(number int) map[string]string {
	place := placePrefix + strconv.Itoa(number)
	return map[string]string{"#task": place + taskSuffix, "#claim": place + "_claim", "#until": place + "_until"}
}

// TakePlace implements share.Rows.
func (s Places) TakePlace(ctx context.Context, tenant org.Tenant, seen share.Row, place int, next share.Holder) error {
	c := change{
		table: s.Table, key: shareKey(tenant),
		set: "SET #task = :task, #claim = :claim, #until = :until, #ttl = :ttl", when: "attribute_not_exists(#task)",
		names: placeNames(place),
		values: item{
			":task": text(next.TaskID), ":claim": number(next.Claim), ":until": moment(next.Until),
			":ttl": number(next.Until.Add(keepShares).Unix()),
		},
	}
	c.names["#ttl"] = "ttl"
	if holder, isHeld := seen.Places[place]; isHeld {
		c.when = "#task = :seen AND #claim = :seen_claim AND #until = :seen_until"
		c.values[":seen"], c.values[":seen_claim"], c.values[":seen_until"] = text(holder.TaskID), number(holder.Claim),
			moment(holder.Until)
	}
	if seen.JoinedAt.IsZero() {
		c.when += " AND attribute_not_exists(joined_at)"
	} else {
		c.when += " AND joined_at = :joined"
		c.values[":joined"] = moment(seen.JoinedAt)
	}
	_, err := update(ctx, s.DB, c)
	return err
}

// KeepPlace implements share.Rows.
func (s Places) KeepPlace(ctx context.Context, place share.Place, until time.Time) error {
	_, err := update(ctx, s.DB, placeLease(place.Number).extend(s.placed(place), until))
	return err
}

// LeavePlace implements share.Rows.
func (s Places) LeavePlace(ctx context.Context, place share.Place) (share.Row, error) {
	c := placeLease(place.Number).release(s.placed(place))
	c.set += ", #task, #holder"
	row, err := update(ctx, s.DB, c)
	if err != nil {
		return share.Row{}, err
	}
	return shareOf(row), nil
}

// placeLease returns a slot's lease, which is renewed and released like any other lease. A task takes the lease only if
// the slot and the tenant's queue are unchanged since the task read them, because both determine whether the slot is
// available. The task's fence also serves as the lease's fence.
func placeLease(number int) lease {
	names := placeNames(number)
	return lease{until: names["#until"], holder: names["#claim"]}
}

// AnnounceLine implements share.Rows. The write doesn't depend on an earlier read of the row because, whatever the row
// contains, a task is waiting.
func (s Places) AnnounceLine(ctx context.Context, tenant org.Tenant, joinedAt, dueAt time.Time) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: shareKey(tenant),
		set:  "SET joined_at = :now, due_shard = :shard, due_at = if_not_exists(due_at, :due)",
		when: "attribute_not_exists(joined_at) OR joined_at <= :now",
		values: item{
			":now": moment(joinedAt), ":shard": text(shardOf(tenant.OrgID)), ":due": moment(dueAt),
		},
	})
	if errors.Is(err, fault.Conflict) {
		return nil // a later announcement is already stored
	}
	return err
}

// EndLine implements share.Rows.
func (s Places) EndLine(ctx context.Context, tenant org.Tenant, seen time.Time) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: shareKey(tenant), set: "REMOVE joined_at, due_shard, due_at", when: "joined_at = :seen",
		values: item{":seen": moment(seen)},
	})
	return err
}

// JoinLine implements share.Rows. The byDue index lists a tenant's waiting tasks in order of creation time.
func (s Tasks) JoinLine(ctx context.Context, task export.Task, at time.Time) error {
	c := s.fenced(task, "SET waiting_since = :now, due_shard = :line, due_at = created_at REMOVE lease_until")
	c.when += " AND attribute_exists(lease_until)"
	c.values[":now"] = moment(at)
	c.values[":line"] = text(lineShard(task.Tenant))
	_, err := update(ctx, s.DB, c)
	return err
}

// Line implements share.Rows.
func (s Places) Line(ctx context.Context, tenant org.Tenant, limit int) ([]share.Waiting, error) {
	out, err := s.DB.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.Table, IndexName: aws.String("byDue"),
		Limit:                     aws.Int32(int32(limit)), //nolint:gosec // G115: limits are small
		KeyConditionExpression:    aws.String("due_shard = :line"),
		ExpressionAttributeValues: item{":line": text(lineShard(tenant))},
	})
	if err != nil {
		return nil, fmt.Errorf("query line: %w", err)
	}
	line := make([]share.Waiting, 0, len(out.Items))
	for _, attributes := range out.Items {
		row := item(attributes)
		if found, ok := parseRowKey(row.text("pk")); ok {
			line = append(line, share.Waiting{TaskID: found.ID, CreatedAt: row.time("due_at")})
		}
	}
	return line, nil
}

// placed returns an update of a slot that succeeds only if the slot is still held by place's task and claim.
func (s Places) placed(place share.Place) change {
	return placeLease(place.Number).held(change{
		table: s.Table, key: shareKey(place.Tenant), when: "#task = :task",
		names: map[string]string{"#task": placeNames(place.Number)["#task"]}, values: item{":task": text(place.TaskID)},
	}, number(place.Claim))
}

// CallTask implements share.Rows.
func (s Tasks) CallTask(ctx context.Context, task export.Task, dueAt time.Time) error {
	c := s.fenced(task, "SET waited_ms = :waited, due_shard = :shard, due_at = :due REMOVE waiting_since")
	c.when += " AND waiting_since = :since"
	c.values[":waited"] = number(task.Waited.Milliseconds())
	c.values[":shard"] = text(shardOf(task.ID))
	c.values[":due"] = moment(dueAt)
	c.values[":since"] = moment(task.WaitingSince)
	_, err := update(ctx, s.DB, c)
	return err
}
