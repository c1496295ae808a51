package freemail

// IsByOwnList is Is without the lists that others publish, as it is where npm was not there to fetch them.
func IsByOwnList(domain string) bool {
	return is(domain, func(domain string) bool { return isIn("own.txt", domain) })
}
