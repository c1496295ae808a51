package freemail

// IsByOwnList is like Is but ignores the published lists, which npm may not have fetched.
func IsByOwnList(domain string) bool {
	return is(domain, func(domain string) bool { return isIn("own.txt", domain) })
}
