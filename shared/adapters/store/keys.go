package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/org"
)

// key is a row's primary key. This file constructs all primary keys (docs/develop/architecture.md, Data).
type key struct {
	pk, sk string
}

func (k key) attributes() item { return item{"pk": text(k.pk), "sk": text(k.sk)} }

const meta = "META"

// Keys of the Control table.
func organisationKey(t org.Tenant) key          { return key{t.Key(), meta} }
func credentialKey(t org.Tenant, id string) key { return key{t.Key(), credentialPrefix + id} }

// keyUseKey returns the key of the row that records a private key's last use. Functions that accept API keys may write
// only to the partition of these rows.
func keyUseKey(t org.Tenant, id string) key { return key{keyUsesPartition(t), id} }
func keyUsesPartition(t org.Tenant) string  { return t.Key() + "#KEYUSE" }

// subscriptionKey returns a subscription's key. Subscriptions have a separate partition, to which the webhook worker
// may write.
func subscriptionKey(t org.Tenant, id string) key {
	return key{subscriptionsPartition(t), subscriptionPrefix + id}
}
func subscriptionsPartition(t org.Tenant) string { return t.Key() + "#HOOKS" }

// healthKey returns the key of a subscription's health row. The key sorts after the subscription's key, so that one
// query reads both rows.
func healthKey(t org.Tenant, id string) key {
	return key{subscriptionsPartition(t), subscriptionPrefix + id + healthSuffix}
}
func publicIDKey(id string) key { return key{"PUB#" + id, meta} }
func endpointKey(id string) key { return key{"ENDP#" + id, meta} }

// wayKey returns the key of a catalog.Way, which links a brand to an endpoint. Each link has a separate partition
// because thousands of brands may share a server.
func wayKey(endpoint, brand string) key  { return key{"ENDP#" + endpoint + "#" + brand, meta} }
func clientAuthKey(id, owner string) key { return key{"CLIENT#" + id, owner} }
func directoryKey(t org.Tenant) key      { return key{directoryPartition, t.Key()} }

// registrationKey returns the key of a registration at an endpoint or platform. owner is a tenant's key, or everyone
// for a shared registration.
func registrationKey(place catalog.Place, owner string) key {
	if place.EndpointID != "" {
		return key{"REG#" + place.EndpointID, owner}
	}
	return key{"REG#" + place.Mode + "#" + strings.ToLower(place.PlatformType), owner}
}

// Keys of accounts. An account does not belong to a tenant, because its owner may be a member of several organisations.
// A membership is stored twice: in the account's partition for dashboard requests, and in the organisation's partition
// for listing members.
func accountKey(id string) key { return key{accountPartition(id), meta} }

// recoveryCodesKey returns the key of an account's recovery codes. The recovery codes have a separate row because older
// releases overwrite the entire account row and would delete them.
func recoveryCodesKey(account string) key { return key{accountPartition(account), "RECOVERYCODES"} }

// recoveryKey returns the key of an account's recovery. The recovery has a separate partition so that a function with
// permission to cancel it can't change the account.
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

// addressKey returns the key of an email address. The key contains a hash of the address, because AWS logs record keys.
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
	// everyone is the sort key of client registrations and authentication settings that all tenants share.
	everyone = "*"
)

// clientListedKey and registrationListedKey return keys of entries in the operators' lists.
func clientListedKey(owner org.Tenant, id string) key {
	return key{clientsPartition, clientAuthKey(id, "").pk + "#" + ownerKey(owner)}
}

func registrationListedKey(owner org.Tenant, place catalog.Place) key {
	return key{placesPartition, registrationKey(place, "").pk + "#" + ownerKey(owner)}
}

// parseTenant parses a tenant's key, as returned by Tenant.Key.
func parseTenant(text string) (org.Tenant, bool) {
	name, id, _ := strings.Cut(text, "#")
	mode, ok := org.ParseMode(name)
	return org.Tenant{Mode: mode, OrgID: id}, ok && id != ""
}

// Keys of the Connection and Tokens tables.
func connectionKey(t org.Tenant, id string) key { return rowKey(t, due.Connection, id) }
func tokensKey(t org.Tenant, id string) key     { return key{t.Key() + "#CONN#" + id, "TOKENS"} }

// upstreamKey returns the key of a disconnected connection's tokens, which are kept until the health system has revoked
// them. The tokens have a separate partition so that permissions can distinguish them from tokens in use.
func upstreamKey(t org.Tenant, id string) key { return key{t.Key() + "#UPSTREAM#" + id, meta} }

// vaultKey returns the key of a person's connection to a facility under a given external ID. personKey returns the key
// of a row that lists one of a person's connections.
func vaultKey(t org.Tenant, hash, facility string) key {
	return key{t.Key() + "#VAULT#" + hash, facility}
}
func personKey(t org.Tenant, hash, id string) key      { return key{personPartition(t, hash), id} }
func personPartition(t org.Tenant, hash string) string { return t.Key() + "#PERSON#" + hash }

// Keys of the Flow table.
func stateKey(hash string) key  { return key{"STATE#" + hash, meta} }
func ticketKey(hash string) key { return key{"START#" + hash, meta} }

// identityStateKey and identityTicketKey return keys for sign-ins at identity providers. The keys differ from those for
// portals, so that a state for one kind of sign-in is never valid for the other.
func identityStateKey(hash string) key  { return key{"IDSTATE#" + hash, meta} }
func identityTicketKey(hash string) key { return key{"IDSTART#" + hash, meta} }

func attemptKey(t org.Tenant, id string) key { return key{"ATTEMPT#" + t.Key() + "#" + id, meta} }
func limitKey(bucket string) key             { return key{"RL#" + bucket, meta} }
func codeKey(t org.Tenant, id string) key    { return key{"CODE#" + t.Key() + "#" + id, meta} }

func sessionKey(hash string) key  { return key{"SESSION#" + hash, meta} }
func deviceKey(hash string) key   { return key{"DEVICE#" + hash, meta} }
func ceremonyKey(hash string) key { return key{"CEREMONY#" + hash, meta} }

// mailboxKey returns the key of a mailbox's row, which records the emails sent to it. The mailbox is identified by a
// keyed hash.
func mailboxKey(t org.Tenant, hash string) key { return key{"MAILBOX#" + t.Key() + "#" + hash, meta} }

func emailTokenKey(t org.Tenant, hash string) key {
	return key{"EMAILTOKEN#" + t.Key() + "#" + hash, meta}
}

// Keys of the Work table.
func taskKey(t org.Tenant, id string) key     { return rowKey(t, due.Task, id) }
func eventKey(t org.Tenant, id string) key    { return rowKey(t, due.Event, id) }
func deliveryKey(t org.Tenant, id string) key { return rowKey(t, due.Delivery, id) }
func latestKey(t org.Tenant, connection string) key {
	return key{t.Key() + "#LATEST#" + connection, meta}
}

// inquiryKey returns the key of a patient's inquiry to an organisation. id is the ID of the event that reports the
// inquiry.
func inquiryKey(t org.Tenant, id string) key {
	return key{t.Key() + "#" + inquiryList + "#" + id, meta}
}

// answersKey returns the key of the row that counts a tenant's answers to inquiries on one day.
func answersKey(t org.Tenant, day time.Time) key {
	return key{t.Key() + "#ANSWERS", day.UTC().Format(time.DateOnly)}
}

// shareKey returns the key of the row that limits a tenant's use of the export workers.
func shareKey(t org.Tenant) key { return rowKey(t, due.Share, t.OrgID) }

// lineShard returns the byDue shard that lists tasks waiting for a slot in a tenant's share. The sweeper ignores this
// shard.
func lineShard(t org.Tenant) string { return t.Key() + "#LINE" }

// erasureKey returns the key of a request to erase a connection. The request's ID does not reveal the connection's ID.
func erasureKey(t org.Tenant, id string) key { return key{t.Key() + "#ERASURE#" + id, meta} }

// erasedKey returns the key of the row that records the erasure of the connection with this vaultKey. The row is kept
// for the lifetime of an attempt.
func erasedKey(t org.Tenant, hash, facility string) key {
	return key{t.Key() + "#ERASED#" + hash, facility}
}

// erasuresShard is the byDue shard that lists erasures in progress. The sweeper ignores this shard.
const erasuresShard = "ERASURES"

func deletionKey(orgID string) key {
	return key{org.Tenant{Mode: org.Live, OrgID: orgID}.Key() + deletionSuffix, meta}
}

const (
	deletionSuffix = "#DELETION"
	// deletionsShard is the byDue shard that lists deletions in progress. The sweeper ignores this shard.
	deletionsShard = "DELETIONS"
)

// usageKey returns the key of a tenant's usage counters for one day.
func usageKey(t org.Tenant, day string) key { return key{usagePartition(t), day} }
func usagePartition(t org.Tenant) string    { return t.Key() + "#USAGE" }

// mostUsedKey returns the key of the row that lists the brands to which a tenant's patients connect most often. The key
// sorts after every day's usage key.
func mostUsedKey(t org.Tenant) key { return key{usagePartition(t), "TOP"} }

// noticeKey returns the key of an unsent email.
func noticeKey(t org.Tenant, id string) key { return rowKey(t, due.Notice, id) }

// tefcaKey returns the key of a TEFCA attempt, whose partition also contains the located records.
func tefcaKey(t org.Tenant, id string) key { return rowKey(t, due.Attempt, id) }

func facilityKey(t org.Tenant, attempt, facility string) key {
	return key{tefcaKey(t, attempt).pk, facilityPrefix + facility}
}

const facilityPrefix = "FACILITY#"

func attemptLogKey(t org.Tenant, delivery string, claim int64) key {
	return key{deliveryKey(t, delivery).pk, fmt.Sprintf("ATT#%06d", claim)}
}

// Keys of the Catalog table.
func pointerKey(mode string) key            { return key{"POINTER#" + mode, meta} }
func publicationKey(mode string) key        { return key{"PUBLICATION#" + mode, meta} }
func overridesPartition(mode string) string { return "OVERRIDE#" + mode }
func sourceKey(id string) key               { return key{sourcesPartition, id} }

// sourcesPartition contains the sources of both modes, a few hundred in total.
const sourcesPartition = "SOURCE"

// overrideKey returns the key of an override. Each record has at most one override of each kind, except for aliases and
// portals.
func overrideKey(mode string, o ledger.Override) key {
	sort := string(o.Kind) + "#" + o.ID
	if o.Kind == ledger.Alias || o.Kind == ledger.Portal {
		sort += "#" + o.Value
	}
	return key{overridesPartition(mode), sort}
}

// Keys of catalogue endpoints' health rows.
func roundsKey() key { return key{"HEALTH", meta} }

func healthPointerKey(mode string) key            { return key{"POINTER#" + mode + "#HEALTH", meta} }
func healthPartition(mode string) string          { return "HEALTH#" + mode }
func discoveredURLsPartition(mode string) string  { return "SEEN#" + mode }
func endpointHealthKey(mode, endpoint string) key { return key{healthPartition(mode), endpoint} }
func discoveredURLsKey(mode, endpoint string) key {
	return key{discoveredURLsPartition(mode), endpoint}
}

// Keys of the Sandbox table.
func sandboxKey(name string) key { return key{"SANDBOX#" + name, meta} }

// Keys of the RequestLog table. A row's sort key is its cursor.
func requestsPartition(t org.Tenant) string { return t.Key() + "#REQUESTS" }
func signInsPartition(t org.Tenant) string  { return t.Key() + "#ATTEMPTS" }

// Keys of the Audit table. An organisation has a single audit chain for both modes. The audit chain of shared resources
// has an empty organisation ID.
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
	lastSeq     = 999_999_999_999 // largest twelve-digit number
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

// kind returns the part of a row's key that identifies the row's type, such as TASK, CONN or CRED.
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

// parseRowKey parses the partition key of a row that may be due.
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

func newItem(k key) item { return k.attributes() }
