package usage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"recordbridge/shared/words/org"
)

// Day holds a tenant's counts for a single day.
type Day struct {
	Counts

	// Brands counts authorisations by brand ID. TEFCA connections have no brand.
	Brands map[string]int64
}

const (
	// maxBrands is the maximum number of brands stored for a day. The limit ensures that the day's row is at most 3 KB.
	maxBrands = 60
	// maxMostUsed is the maximum length of a list of most-used brands.
	maxMostUsed = 10
	// minLive is the minimum number of live-mode connections for a brand to be listed. Anyone with an organisation's
	// public ID can read the list, so it must not reveal where individual patients are treated.
	minLive = 5
	// usedDays is the number of days for which a connection counts towards its brand's rank.
	usedDays = 90
)

func (c *Day) addBrand(id string) {
	if id == "" {
		return
	}
	if c.Brands == nil {
		c.Brands = map[string]int64{}
	}
	c.Brands[id]++
}

// rank stores a tenant's most-used brands (docs/operate/catalogue.md).
func (m Meter) rank(ctx context.Context, tenant org.Tenant, now time.Time) error {
	counts, err := m.Days.ConnectionsByBrand(ctx, tenant, now.AddDate(0, 0, -usedDays).Format(day))
	if err != nil {
		return fmt.Errorf("read connections by brand: %w", err)
	}
	maps.DeleteFunc(counts, func(_ string, count int64) bool { return tenant.Mode == org.Live && count < minLive })
	if err := m.Days.SaveMostUsed(ctx, tenant, top(counts, maxMostUsed), now); err != nil {
		return fmt.Errorf("save the most used brands: %w", err)
	}
	return nil
}

// top returns at most limit brands, sorted by descending count.
func top(counts map[string]int64, limit int) []string {
	ranked := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(-cmp.Compare(counts[a], counts[b]), cmp.Compare(a, b))
	})
	return ranked[:min(len(ranked), limit)]
}

// limitBrands keeps only the maxBrands brands with the highest counts.
func (c *Day) limitBrands() {
	kept := top(c.Brands, maxBrands)
	maps.DeleteFunc(c.Brands, func(id string, _ int64) bool { return !slices.Contains(kept, id) })
}
