package freemail

// IsByOwnList is Is without the published lists, as if npm had been unavailable to fetch them.
func IsByOwnList(domain string) bool {
	return is(domain, func(domain string) bool { return isIn("own.txt", domain) })
}
