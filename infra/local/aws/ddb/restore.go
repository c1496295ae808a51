package ddb

import (
	"maps"
	"slices"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// past is the content of a row before a change, or nil if the row didn't exist.
type past struct {
	at  time.Time
	key rowKey
	old item
}

// mostPast is the number of changes that a table's history stores. A table can be restored to any time since its
// history was enabled, unless it has changed more often since then.
const mostPast = 10_000

// history stores a table's recent changes, so that the table can be restored to a point in time. The history isn't
// journalled, so a restarted server has none.
type history struct {
	since   time.Time // earliest time to which the table can be restored
	changes []past
}

func (h *history) add(t *table, key rowKey) {
	if len(h.changes) == mostPast {
		h.since = h.changes[0].at
		h.changes = slices.Delete(h.changes, 0, 1)
	}
	h.changes = append(h.changes, past{time.Now(), key, t.rows.get(key)})
}

type continuousInput struct {
	TableName                        string
	PointInTimeRecoverySpecification struct{ PointInTimeRecoveryEnabled bool }
}

// updateContinuousBackups enables point-in-time recovery, which stores a table's history from now on.
func (o tableOperations) updateContinuousBackups(in *continuousInput) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t, err := o.controlled(in.TableName)
	if err != nil {
		return nil, err
	}
	status := "ENABLED"
	switch {
	case !in.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled:
		t.history, status = nil, "DISABLED"
	case t.history == nil:
		t.history = &history{since: time.Now()}
	}
	return map[string]any{"ContinuousBackupsDescription": map[string]any{
		"ContinuousBackupsStatus":        "ENABLED",
		"PointInTimeRecoveryDescription": map[string]string{"PointInTimeRecoveryStatus": status},
	}}, nil
}

type restoreInput struct {
	SourceTableName         string
	TargetTableName         string
	RestoreDateTime         float64 // Unix time in seconds
	UseLatestRestorableTime bool
}

// restoreTable creates a table with another table's rows at a point in time.
func (o tableOperations) restoreTable(in *restoreInput) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	source, err := o.controlled(in.SourceTableName)
	if err != nil {
		return nil, err
	}
	if _, exists := o.tables[in.TargetTableName]; exists {
		return nil, wire.Fail("TableAlreadyExistsException", "Table already exists: %s", in.TargetTableName)
	}
	if source.history == nil {
		return nil, wire.Fail("PointInTimeRecoveryUnavailableException",
			"Point in time recovery is not enabled for table '%s'", in.SourceTableName)
	}
	moment := time.UnixMilli(int64(in.RestoreDateTime * 1000))
	if in.UseLatestRestorableTime {
		moment = time.Now()
	}
	if moment.Before(source.history.since) || moment.After(time.Now()) {
		return nil, wire.Fail("InvalidRestoreTimeException", "RestoreDateTime is out of the restorable window")
	}
	spec := source.spec
	spec.TableName = in.TargetTableName
	if err := o.commit(journalRecord{Table: &tableRecord{Spec: spec, Created: time.Now().UTC()}}); err != nil {
		return nil, err
	}
	var record journalRecord
	for _, row := range source.rowsAt(moment) {
		record.Items = append(record.Items, itemChange{Table: in.TargetTableName, Put: row})
	}
	if err := o.commit(record); err != nil {
		return nil, err
	}
	description := o.tables[in.TargetTableName].describe()
	description.TableStatus = "CREATING"
	return tableReply{description}, nil
}

// rowsAt returns the table's rows at a time within its history.
func (t *table) rowsAt(moment time.Time) []item {
	rows := map[rowKey]item{}
	for _, partition := range t.rows.partitions {
		for _, r := range partition {
			rows[r.key] = t.rows.read(r)
		}
	}
	for _, change := range slices.Backward(t.history.changes) {
		switch {
		case !change.at.After(moment):
			return slices.Collect(maps.Values(rows))
		case change.old == nil:
			delete(rows, change.key)
		default:
			rows[change.key] = change.old
		}
	}
	return slices.Collect(maps.Values(rows))
}

func (o tableOperations) deleteTable(in *tableName) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t, err := o.controlled(in.TableName)
	if err != nil {
		return nil, err
	}
	description := t.describe()
	description.TableStatus = "DELETING"
	return tableReply{description}, o.commit(journalRecord{Dropped: in.TableName})
}
