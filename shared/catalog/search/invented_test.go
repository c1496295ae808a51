package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"recordbridge/shared/catalog/search"
	"recordbridge/shared/ids"
)

// invented makes so many brands of made-up names, the same for a seed: like real ones, they share most of their words, some are one
// name in several states, and most say nothing of where they are.
func invented(n int, seed uint64) []search.Entry {
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(words string) string { all := strings.Fields(words); return all[r.IntN(len(all))] }
	coined := func() string {
		var b strings.Builder
		for range 2 + r.IntN(3) {
			b.WriteString(pick("ba bel cor dan dru fen gar hal ith jor kel lor mar nel or pen quil ros sel tor ul ver wil yor zan th st nd ry sha bro"))
		}
		word := b.String()
		return strings.ToUpper(word[:1]) + word[1:]
	}
	seen := map[string]bool{}
	var all []search.Entry
	for len(all) < n {
		name := coined()
		switch r.IntN(5) {
		case 0:
			name += ", " + pick("MD DO M.D. DPM") + pick(". ,PA ,LLC PLLC")
			name = pick("John Maria Orla Ilda Odo") + " " + name
		case 1:
			name = pick("St. Saint Mount Lake North South New") + " " + name
			fallthrough
		case 2:
			name += " " + pick("Memorial General Regional Community University") + " " + pick("Hospital Hosp Clinic Center")
		case 3:
			name += " " + pick("Family Heart Eye Women's Pediatric Orthopaedic") + " " + pick("Clinic Center Associates Assoc Medicine Group Care")
		default:
			name += " " + coined() + " " + pick("Medical Health Dental Wellness") + " " + pick("Center Ctr Group Partners")
		}
		for range 1 + r.IntN(3)/2*r.IntN(5) {
			where := ""
			if r.IntN(2) == 0 {
				where = pick("TX OH NJ CA VT FL NY") + fmt.Sprintf(" %05d", 1000+r.IntN(98000))
			}
			e := brand(name + "|" + where)
			if seen[e.Brand.ID] {
				continue
			}
			seen[e.Brand.ID] = true
			portal := ids.Derive("portal", name)
			e.Brand.PortalIDs = []string{portal}
			all = append(all, e)
		}
	}
	return all[:n]
}
