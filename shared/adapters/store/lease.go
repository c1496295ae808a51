package store

import (
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// lease names the attributes that lease a row, or a part of a row, to one holder at a time. All leases follow the same
// rules. A lease is valid up to and including its expiry. Other holders can take the lease after the expiry or after
// its release. Only the lease's holder can renew the lease, release it, and write under it. An expired lease keeps its
// holder until someone else takes the lease. A generated name or a fence identifies the holder. A fence is a number
// that increases with each claim, and with each write after which the holder's earlier writes must fail.
type lease struct{ until, holder string }

// leaseOf returns the lease of an entire row.
func leaseOf(holder string) lease { return lease{until: "lease_until", holder: holder} }

const isFree = "(attribute_not_exists(#until) OR #until < :now)"

// claim takes the lease until the given time and increments the fence. As in all lease methods below, the set
// expression of c follows the lease's own set expression.
func (l lease) claim(c change, now, until time.Time) change {
	c = l.extend(l.named(c, "#holder", l.holder), until)
	c.set += ", #holder = if_not_exists(#holder, :none) + :one"
	c.when = both(c.when, isFree)
	c.values[":none"], c.values[":one"], c.values[":now"] = number(0), number(1), moment(now)
	return c
}

// take acquires the lease for an owner until the given time. The condition fresh applies only to other owners, so that
// the lease's holder can repeat a write whose response was lost.
func (l lease) take(c change, owner, fresh string, now, until time.Time) change {
	c = l.extend(l.named(c, "#holder", l.holder), until)
	c.set += ", #holder = :holder"
	c.when = both(c.when, "(#holder = :holder OR "+both(fresh, isFree)+")")
	c.values[":holder"], c.values[":now"] = text(owner), moment(now)
	return c
}

// held adds to c the condition that the holder still holds the lease.
func (l lease) held(c change, holder types.AttributeValue) change {
	c = l.named(c, "#holder", l.holder)
	c.when = both(c.when, "#holder = :holder")
	c.values[":holder"] = holder
	return c
}

// extend renews the lease until the given time.
func (l lease) extend(c change, until time.Time) change {
	c = l.named(c, "#until", l.until)
	c.set = "SET #until = :until" + c.set
	c.values[":until"] = moment(until)
	return c
}

// release releases the lease. Only the first release succeeds.
func (l lease) release(c change) change {
	c = l.named(c, "#until", l.until)
	c.set += " REMOVE #until"
	c.when = both(c.when, "attribute_exists(#until)")
	return c
}

// named returns a copy of c with an additional expression attribute name. The copy is necessary because stores modify
// c's maps.
func (lease) named(c change, placeholder, name string) change {
	names, values := map[string]string{placeholder: name}, item{}
	maps.Copy(names, c.names)
	maps.Copy(values, c.values)
	c.names, c.values = names, values
	return c
}

func both(a, b string) string {
	if a == "" {
		return b
	}
	return a + " AND " + b
}
