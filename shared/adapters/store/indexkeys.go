package store

import (
	"fmt"
	"hash/fnv"
	"time"

	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// DueShards is the number of shards in the byDue index.
const DueShards = 16

func shardName(shard int) string { return fmt.Sprintf("DUE#%02d", shard) }

// setDue sets the time at which the sweeper processes the row.
func (r item) setDue(id string, at time.Time) {
	r["due_shard"], r["due_at"] = text(shardOf(id)), moment(at)
}

func shardOf(id string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(ids.TaskID(id)))
	return shardName(int(h.Sum32() % DueShards))
}

// listed adds the row to the organisation's list of rows of one kind, ordered by creation time.
func (r item) listed(t org.Tenant, kind, id string, created time.Time) {
	r["org_list"], r["org_order"] = text(listKey(t, kind)), text(orderText(created, id))
}

// orderText returns a row's sort key in a list that is ordered by creation time and ID.
func orderText(created time.Time, id string) string { return created.UTC().Format(stamp) + "#" + id }

// listKey returns the byOrg index key for a tenant's rows of one kind.
func listKey(t org.Tenant, kind string) string { return t.Key() + "#" + kind }

// foundList returns the key of the list of a tenant's rows that have a value of a property, in the byFilter and byOrg
// indexes or in the Work table.
func foundList(t org.Tenant, by, value string) string { return t.Key() + "#FIND#" + by + "#" + value }

// connectionFoundKey returns the key of a connection's index row.
func connectionFoundKey(t org.Tenant, id string) key {
	return key{foundList(t, "CONNECTION", id), meta}
}

// externalList returns the byExternal index key of a tenant's connections with an external ID, or "" if external is
// empty.
func externalList(t org.Tenant, external secret.Mark) string {
	if len(external.Sum) == 0 {
		return ""
	}
	return fmt.Sprintf("%s#EXT#%d#%x", t.Key(), external.Version, external.Sum)
}

// requestIDList, loggedConnectionList and loggedExternalList return the index keys of a partition's rows with a request
// ID, a connection or an external ID.
func requestIDList(partition, id string) string        { return partition + "#REQUEST#" + id }
func loggedConnectionList(partition, id string) string { return partition + "#CONN#" + id }
func loggedExternalList(partition string, external secret.Mark) string {
	return fmt.Sprintf("%s#EXT#%d#%x", partition, external.Version, external.Sum)
}
