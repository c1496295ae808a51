package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// key addresses one row. Every key of the service is made in this file (docs/develop/architecture.md, Data).
type key struct {
	pk, sk string
}

func (k key) attributes() item { return item{"pk": text(k.pk), "sk": text(k.sk)} }

const meta = "META"

// Control.
func organisationKey(t org.Tenant) key          { return key{t.Key(), meta} }
func credentialKey(t org.Tenant, id string) key { return key{t.Key(), credentialPrefix + id} }

// keyUseKey is of when a private key was last used. Functions that take keys may write there and
// nowhere else of this table.
func keyUseKey(t org.Tenant, id string) key { return key{keyUsesPartition(t), id} }
func keyUsesPartition(t org.Tenant) string  { return t.Key() + "#KEYUSE" }

// Subscriptions have a partition of their own, which the webhook worker may write to.
func subscriptionKey(t org.Tenant, id string) key {
	return key{subscriptionsPartition(t), subscriptionPrefix + id}
}
func subscriptionsPartition(t org.Tenant) string { return t.Key() + "#HOOKS" }

// healthKey sorts behind its subscription, so that one query reads both.
func healthKey(t org.Tenant, id string) key {
	return key{subscriptionsPartition(t), subscriptionPrefix + id + healthSuffix}
}
func publicIDKey(id string) key { return key{"PUB#" + id, meta} }
func endpointKey(id string) key { return key{"ENDP#" + id, meta} }

// wayKey is of a brand's way to an endpoint. Each has a partition of its own, since thousands of
// brands share one server.
func wayKey(endpoint, brand string) key  { return key{"ENDP#" + endpoint + "#" + brand, meta} }
func clientAuthKey(id, owner string) key { return key{"CLIENT#" + id, owner} }
func directoryKey(t org.Tenant) key      { return key{directoryPartition, t.Key()} }

// registrationKey is of a registration at an endpoint or a platform, of one tenant or of everyone.
func registrationKey(place catalog.Place, owner string) key {
	if place.EndpointID != "" {
		return key{"REG#" + place.EndpointID, owner}
	}
	return key{"REG#" + place.Mode + "#" + strings.ToLower(place.PlatformType), owner}
}

// Accounts are nobody's: a person may be a member of several organisations. A membership stands at its account, whose
// partition every request of the dashboard reads, and at its organisation, which lists its members.
func accountKey(id string) key { return key{accountPartition(id), meta} }

// recoveryCodesKey is of an account's recovery codes: a row of their own, so that releases without them, which write
// whole accounts, keep them.
func recoveryCodesKey(account string) key { return key{accountPartition(account), "RECOVERYCODES"} }

// recoveryKey is of an account's recovery, in a partition of its own: who may stop one may not change the account.
func recoveryKey(account string) key { return key{accountPartition(account) + "#RECOVERY", meta} }

func membershipKey(account, o string) key {
	return key{membershipsPartition(account), organisationPrefix + o}
}

func memberKey(o, account string) key { return key{membersPartition(o), memberPrefix + account} }

func invitationKey(o, id string) key        { return key{membersPartition(o), invitationPrefix + id} }
func membersKey(o string) key               { return key{membersPartition(o), meta} }
func accountPartition(id string) string     { return "ACCT#" + id }
func membershipsPartition(id string) string { return accountPartition(id) + "#ORGS" }
func membersPartition(o string) string      { return organisationPrefix + o }
func domainKey(name string) key             { return key{"DOMAIN#" + name, meta} }

// addressKey is of an e-mail address, by a hash: keys get into AWS's own logs.
func addressKey(address string) key {
	sum := sha256.Sum256([]byte(account.Fold(address)))
	return key{"ADDR#" + hex.EncodeToString(sum[:]), meta}
}

const (
	organisationPrefix = "ORG#"
	memberPrefix       = "MEMBER#"
	invitationPrefix   = "INVITE#"
	credentialPrefix   = "CRED#"
	subscriptionPrefix = "HOOK#"
	healthSuffix       = "#HEALTH"
	directoryPartition = "DIR#ORG"
	endpointsPartition = "DIR#ENDP"
	clientsPartition   = "DIR#CLIENT"
	placesPartition    = "DIR#REG"
	// everyone is the sort key of a registration, or of a client's authentication, that is not one tenant's own.
	everyone = "*"
)

// clientListedKey and registrationListedKey are of the operator's lists.
func clientListedKey(owner org.Tenant, id string) key {
	return key{clientsPartition, clientAuthKey(id, "").pk + "#" + ownerKey(owner)}
}

func registrationListedKey(owner org.Tenant, place catalog.Place) key {
	return key{placesPartition, registrationKey(place, "").pk + "#" + ownerKey(owner)}
}

// parseTenant reads Tenant.Key back.
func parseTenant(text string) (org.Tenant, bool) {
	name, id, _ := strings.Cut(text, "#")
	mode, ok := org.ParseMode(name)
	return org.Tenant{Mode: mode, OrgID: id}, ok && id != ""
}

// Connection and Tokens.
func connectionKey(t org.Tenant, id string) key { return rowKey(t, due.Connection, id) }
func tokensKey(t org.Tenant, id string) key     { return key{t.Key() + "#CONN#" + id, "TOKENS"} }

// upstreamKey is of what is left of a disconnected connection's tokens until the health system has revoked them. It has
// a partition of its own, so that permissions can tell it from tokens in use.
func upstreamKey(t org.Tenant, id string) key { return key{t.Key() + "#UPSTREAM#" + id, meta} }

// vaultKey names the connection that a person has at a facility, for one external id, and personKey each of a person's.
func vaultKey(t org.Tenant, hash, facility string) key {
	return key{t.Key() + "#VAULT#" + hash, facility}
}
func personKey(t org.Tenant, hash, id string) key      { return key{personPartition(t, hash), id} }
func personPartition(t org.Tenant, hash string) string { return t.Key() + "#PERSON#" + hash }

// Flow.
func stateKey(hash string) key  { return key{"STATE#" + hash, meta} }
func ticketKey(hash string) key { return key{"START#" + hash, meta} }

// identityStateKey and identityTicketKey are of sign-ins at identity providers: a state of one
// kind is none of the other.
func identityStateKey(hash string) key  { return key{"IDSTATE#" + hash, meta} }
func identityTicketKey(hash string) key { return key{"IDSTART#" + hash, meta} }

func attemptKey(t org.Tenant, id string) key { return key{"ATTEMPT#" + t.Key() + "#" + id, meta} }
func limitKey(bucket string) key             { return key{"RL#" + bucket, meta} }
func codeKey(t org.Tenant, id string) key    { return key{"CODE#" + t.Key() + "#" + id, meta} }

func sessionKey(hash string) key  { return key{"SESSION#" + hash, meta} }
func deviceKey(hash string) key   { return key{"DEVICE#" + hash, meta} }
func ceremonyKey(hash string) key { return key{"CEREMONY#" + hash, meta} }

// mailboxKey is of what was sent to a mailbox, by its keyed hash.
func mailboxKey(t org.Tenant, hash string) key { return key{"MAILBOX#" + t.Key() + "#" + hash, meta} }

func emailTokenKey(t org.Tenant, hash string) key {
	return key{"EMAILTOKEN#" + t.Key() + "#" + hash, meta}
}

// Work.
func taskKey(t org.Tenant, id string) key     { return rowKey(t, due.Task, id) }
func eventKey(t org.Tenant, id string) key    { return rowKey(t, due.Event, id) }
func deliveryKey(t org.Tenant, id string) key { return rowKey(t, due.Delivery, id) }
func latestKey(t org.Tenant, connection string) key {
	return key{t.Key() + "#LATEST#" + connection, meta}
}

// inquiryKey is of what a patient asked of an organisation, by the id of the event that tells it.
func inquiryKey(t org.Tenant, id string) key {
	return key{t.Key() + "#" + inquiryList + "#" + id, meta}
}

// answersKey is of how many answers to inquiries a tenant has sent on a day.
func answersKey(t org.Tenant, day time.Time) key {
	return key{t.Key() + "#ANSWERS", day.UTC().Format(time.DateOnly)}
}

// shareKey is of a tenant's share of the export workers.
func shareKey(t org.Tenant) key { return rowKey(t, due.Share, t.OrgID) }

// lineShard is where the index byDue lists the tasks that wait for a place of a tenant's share. The
// sweeper does not look there.
func lineShard(t org.Tenant) string { return t.Key() + "#LINE" }

// erasureKey is of the request to erase a connection, by an id that does not tell which.
func erasureKey(t org.Tenant, id string) key { return key{t.Key() + "#ERASURE#" + id, meta} }

// erasedKey is of what remembers for the life of an attempt that a connection with this vaultKey was erased.
func erasedKey(t org.Tenant, hash, facility string) key {
	return key{t.Key() + "#ERASED#" + hash, facility}
}

// erasuresShard is where the index byDue lists erasures that are under way. The sweeper does not look there.
const erasuresShard = "ERASURES"

// deletionKey is of the request to delete an organisation.
func deletionKey(orgID string) key {
	return key{org.Tenant{Mode: org.Live, OrgID: orgID}.Key() + deletionSuffix, meta}
}

const (
	deletionSuffix = "#DELETION"
	// deletionsShard is where the index byDue lists deletions that are under way. The sweeper does not look there.
	deletionsShard = "DELETIONS"
)

// usageKey is of what a tenant has used on a day.
func usageKey(t org.Tenant, day string) key { return key{usagePartition(t), day} }
func usagePartition(t org.Tenant) string    { return t.Key() + "#USAGE" }

// noticeKey is of an e-mail that is to be sent.
func noticeKey(t org.Tenant, id string) key { return rowKey(t, due.Notice, id) }

// tefcaKey is of an attempt of TEFCA mode; what was located by it stands in its partition.
func tefcaKey(t org.Tenant, id string) key { return rowKey(t, due.Attempt, id) }

func facilityKey(t org.Tenant, attempt, facility string) key {
	return key{tefcaKey(t, attempt).pk, facilityPrefix + facility}
}

const facilityPrefix = "FACILITY#"

func attemptLogKey(t org.Tenant, delivery string, claim int64) key {
	return key{deliveryKey(t, delivery).pk, fmt.Sprintf("ATT#%06d", claim)}
}

// Catalog.
func pointerKey(mode string) key            { return key{"POINTER#" + mode, meta} }
func publicationKey(mode string) key        { return key{"PUBLICATION#" + mode, meta} }
func overridesPartition(mode string) string { return "OVERRIDE#" + mode }
func sourceKey(id string) key               { return key{sourcesPartition, id} }

// sourcesPartition has the sources of both modes, a few hundred.
const sourcesPartition = "SOURCE"

// overrideKey is of an override, of which a record has one of a kind, but for aliases and portals.
func overrideKey(mode string, o ledger.Override) key {
	sort := string(o.Kind) + "#" + o.ID
	if o.Kind == ledger.Alias || o.Kind == ledger.Portal {
		sort += "#" + o.Value
	}
	return key{overridesPartition(mode), sort}
}

// How the catalogue's endpoints fare.
func roundsKey() key { return key{"HEALTH", meta} }

func healthPointerKey(mode string) key            { return key{"POINTER#" + mode + "#HEALTH", meta} }
func healthPartition(mode string) string          { return "HEALTH#" + mode }
func sightingsPartition(mode string) string       { return "SEEN#" + mode }
func endpointHealthKey(mode, endpoint string) key { return key{healthPartition(mode), endpoint} }
func sightingKey(mode, endpoint string) key       { return key{sightingsPartition(mode), endpoint} }

// Sandbox.
func sandboxKey(name string) key { return key{"SANDBOX#" + name, meta} }

// Audit. An organisation has one chain for both modes; the empty id is of what is everybody's.
func auditKey(orgID string, seq int64) key {
	return key{auditPartition(orgID), fmt.Sprintf("%s%012d", auditPrefix, seq)}
}

func auditHeadKey(orgID string) key { return key{auditPartition(orgID), "HEAD"} }

func auditPartition(orgID string) string {
	if orgID == "" {
		return everyone
	}
	return "ORG#" + orgID
}

const (
	auditPrefix = "ROW#"
	lastSeq     = 999_999_999_999 // of twelve digits
)

func kindName(kind due.Kind) string {
	switch kind {
	case due.Task:
		return "TASK"
	case due.Event:
		return "EVENT"
	case due.Delivery:
		return "DELIV"
	case due.Connection:
		return "CONN"
	case due.Notice:
		return "NOTICE"
	case due.Share:
		return "SHARE"
	case due.Attempt:
		return "TEFCA"
	}
	return ""
}

func rowKey(t org.Tenant, kind due.Kind, id string) key {
	return key{t.Key() + "#" + kindName(kind) + "#" + id, meta}
}

// kind is the word of a row's key that says what the row is: TASK, CONN, CRED.
func (r item) kind() string {
	words := strings.Split(r.text("pk"), "#")
	if _, isTenants := org.ParseMode(words[0]); !isTenants {
		return words[0]
	}
	if len(words) > 2 {
		return words[2]
	}
	word, _, _ := strings.Cut(r.text("sk"), "#")
	return word
}

// parseRowKey reads the partition key of a row that may be due back.
func parseRowKey(pk string) (due.Item, bool) {
	parts := strings.Split(pk, "#")
	if len(parts) != 4 {
		return due.Item{}, false
	}
	mode, ok := org.ParseMode(parts[0])
	if !ok {
		return due.Item{}, false
	}
	for _, kind := range []due.Kind{
		due.Task, due.Event, due.Delivery, due.Connection, due.Notice, due.Share,
		due.Attempt,
	} {
		if kindName(kind) == parts[2] {
			return due.Item{Tenant: org.Tenant{Mode: mode, OrgID: parts[1]}, Kind: kind, ID: parts[3]}, true
		}
	}
	return due.Item{}, false
}

// DueShards is how many partitions the due index is spread over.
const DueShards = 16

func shardName(shard int) string { return fmt.Sprintf("DUE#%02d", shard) }

// setDue makes the sweeper look at the row at a time.
func (r item) setDue(id string, at time.Time) {
	r["due_shard"], r["due_at"] = text(shardOf(id)), moment(at)
}

func shardOf(id string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(ids.TaskID(id)))
	return shardName(int(h.Sum32() % DueShards))
}

// listed puts the row into the organisation's list of its kind, in order of creation.
func (r item) listed(t org.Tenant, kind, id string, created time.Time) {
	r["org_list"], r["org_order"] = text(listKey(t, kind)), text(created.UTC().Format(stamp)+"#"+id)
}

// listKey is the key of a tenant's list of a kind in the index byOrg.
func listKey(t org.Tenant, kind string) string { return t.Key() + "#" + kind }

// externalList is where the index byExternal lists a tenant's connections of an external id; empty for a
// connection that has none.
func externalList(t org.Tenant, external secret.Mark) string {
	if len(external.Sum) == 0 {
		return ""
	}
	return fmt.Sprintf("%s#EXT#%d#%x", t.Key(), external.Version, external.Sum)
}

func newItem(k key) item { return k.attributes() }
