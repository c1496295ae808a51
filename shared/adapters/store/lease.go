package store

import (
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// lease names the attributes that lease a row, or part of one, to one holder at a time. A lease is valid up to and
// including its expiry. Another holder can take a lease only after it expires or is released. Only the holder can renew
// the lease, release it, or write under it. An expired lease keeps its holder until another holder takes the lease. A
// generated name or a fence identifies the lease's holder. A fence is a number incremented by each claim and by each
// write that must invalidate the holder's earlier writes.
type lease struct{ until, holder string }

func leaseOf(holder string) lease { return lease{until: "lease_until", holder: holder} }

const isFree = "(attribute_not_exists(#until) OR #until < :now)"

// claim takes the lease until the given time and increments the fence. As in take and extend, c.set continues the
// lease's SET clause, so it must either be empty or begin with a comma.
func (l lease) claim(c change, now, until time.Time) change {
	c = l.extend(l.named(c, "#holder", l.holder), until)
	c.set += ", #holder = if_not_exists(#holder, :none) + :one"
	c.when = both(c.when, isFree)
	c.values[":none"], c.values[":one"], c.values[":now"] = number(0), number(1), moment(now)
	return c
}

// take acquires the lease for owner until the given time. The condition fresh applies only to other owners so that the
// current holder can repeat a write whose response was lost.
func (l lease) take(c change, owner, fresh string, now, until time.Time) change {
	c = l.extend(l.named(c, "#holder", l.holder), until)
	c.set += ", #holder = :holder"
	c.when = both(c.when, "(#holder = :holder OR "+both(fresh, isFree)+")")
	c.values[":holder"], c.values[":now"] = text(owner), moment(now)
	return c
}

// held adds to c the condition that holder still holds the lease.
func (l lease) held(c change, holder types.AttributeValue) change {
	c = l.named(c, "#holder", l.holder)
	c.when = both(c.when, "#holder = :holder")
	c.values[":holder"] = holder
	return c
}

func (l lease) extend(c change, until time.Time) change {
	c = l.named(c, "#until", l.until)
	c.set = "SET #until = :until" + c.set
	c.values[":until"] = moment(until)
	return c
}

// release ends the lease. Only the first release of a lease succeeds.
func (l lease) release(c change) change {
	c = l.named(c, "#until", l.until)
	c.set += " REMOVE #until"
	c.when = both(c.when, "attribute_exists(#until)")
	return c
}

// named returns a copy of c with an additional expression attribute name. The copy is needed because stores modify c's
// maps.
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
