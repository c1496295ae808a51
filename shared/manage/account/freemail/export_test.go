package freemail

// IsByOwnList is like Is but ignores the published lists, as if npm could not fetch them.
func IsByOwnList(domain string) bool {
	return is(domain, func(domain string) bool { return isIn("own.txt", domain) })
}
