package store

import (
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// lease names the attributes by which a row, or a part of it, has one holder at a time. The rule is the same for all
// of them: a lease is held up to a time and in it, can be taken later or when it was given back, and is renewed,
// given back and written under by its holder alone. A holder whose time is over remains the holder until somebody
// else takes the lease. Who holds it says a name that the holder has made, or a fence: a number that grows with each
// claim, and with each write that no earlier one of its holder may follow.
type lease struct{ until, holder string }

// leaseOf is the lease of a whole row.
func leaseOf(holder string) lease { return lease{until: "lease_until", holder: holder} }

const isFree = "(attribute_not_exists(#until) OR #until < :now)"

// claim takes the lease until a time, under the next fence. The set of c comes behind that of the lease, as in all
// that follows.
func (l lease) claim(c change, now, until time.Time) change {
	c = l.extend(l.named(c, "#holder", l.holder), until)
	c.set += ", #holder = if_not_exists(#holder, :none) + :one"
	c.when = both(c.when, isFree)
	c.values[":none"], c.values[":one"], c.values[":now"] = number(0), number(1), moment(now)
	return c
}

// take takes the lease until a time for an owner. The owner's own lease is no obstacle, and neither is fresh then, a
// condition for others: a write whose answer was lost is made again.
func (l lease) take(c change, owner, fresh string, now, until time.Time) change {
	c = l.extend(l.named(c, "#holder", l.holder), until)
	c.set += ", #holder = :holder"
	c.when = both(c.when, "(#holder = :holder OR "+both(fresh, isFree)+")")
	c.values[":holder"], c.values[":now"] = text(owner), moment(now)
	return c
}

// held makes c a change by the holder of the lease.
func (l lease) held(c change, holder types.AttributeValue) change {
	c = l.named(c, "#holder", l.holder)
	c.when = both(c.when, "#holder = :holder")
	c.values[":holder"] = holder
	return c
}

// extend has the lease last until a time.
func (l lease) extend(c change, until time.Time) change {
	c = l.named(c, "#until", l.until)
	c.set = "SET #until = :until" + c.set
	c.values[":until"] = moment(until)
	return c
}

// release gives the lease back, once.
func (l lease) release(c change) change {
	c = l.named(c, "#until", l.until)
	c.set += " REMOVE #until"
	c.when = both(c.when, "attribute_exists(#until)")
	return c
}

// named copies c, since stores change its maps, with one more name.
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
