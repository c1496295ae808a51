package freemail

// IsByOwnList is like Is but ignores the published lists, which may not have been fetched from npm.
func IsByOwnList(domain string) bool {
	return is(domain, func(domain string) bool { return isIn("own.txt", domain) })
}
