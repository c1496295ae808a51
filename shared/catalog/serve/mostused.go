package serve

import (
	"context"
	"log/slog"
	"time"

	"recordbridge/shared/words/cache"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// UsedBrands reads the IDs of the brands with which a tenant's patients connected most often, most used first
// (store.UsageDays). The result is empty until connections have been counted.
type UsedBrands interface {
	MostUsed(ctx context.Context, tenant org.Tenant) ([]string, error)
}

// MostUsed caches the brands with which patients connect most often, by organisation and mode. It is safe for
// concurrent use. Create a MostUsed with NewMostUsed.
type MostUsed struct {
	brands UsedBrands
	now    func() time.Time
	known  *cache.Cache[org.Tenant, usedBrands]
}

type usedBrands struct {
	ids   []string
	read  time.Time // time of the last successful read
	until time.Time
}

const (
	// usedFor is the time after which a tenant's most used brands, which change once a day, are read again.
	usedFor = 5 * time.Minute
	// usedLife is the time for which brands remain in use after their last successful read.
	usedLife = 24 * time.Hour
	// usedRetry is the delay after a failed read.
	usedRetry = 10 * time.Second
	// usedTime is the timeout of a read. The timeout is short, because a search works without the most used brands.
	usedTime = 500 * time.Millisecond
	// maxUsed is the maximum number of tenants whose brands are cached.
	maxUsed = 2000
)

// NewMostUsed returns a MostUsed that reads from brands.
func NewMostUsed(brands UsedBrands, now func() time.Time) *MostUsed {
	return &MostUsed{brands: brands, now: now, known: cache.New[org.Tenant, usedBrands](maxUsed, usedLife, now)}
}

// Of returns the IDs of a tenant's most used brands in descending order of use. If reading them fails, it returns the
// last known IDs, if any, and reports the failure in the request's log line.
func (m *MostUsed) Of(ctx context.Context, tenant org.Tenant) []string {
	used, _ := m.known.Get(tenant)
	if m.now().Before(used.until) {
		return used.ids
	}
	ctxRead, cancel := context.WithTimeout(ctx, usedTime)
	defer cancel()
	ids, err := m.brands.MostUsed(ctxRead, tenant)
	if err != nil {
		logx.Add(ctx, slog.String("most_used_failure", fault.ClassOf(err)))
		if m.now().Sub(used.read) >= usedLife {
			used.ids = nil
		}
		used.until = m.now().Add(usedRetry)
	} else {
		used = usedBrands{ids: ids, read: m.now(), until: m.now().Add(usedFor)}
	}
	m.known.Put(tenant, used)
	return used.ids
}
