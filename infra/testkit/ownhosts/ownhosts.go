// Package ownhosts returns the hosts of a service for tests, since a function without configured hosts refuses every
// URL (package weburl).
package ownhosts

import "recordbridge/shared/words/weburl"

// Own returns the hosts of the tests' service, which is at https://api.recordbridge.example, https://api.example and,
// on this machine, port 4566. If NewOwn failed, the result would refuse every URL.
func Own() weburl.Own {
	own, _ := weburl.NewOwn("https://api.recordbridge.example/v1 https://api.example/v1 http://127.0.0.1:4566/v1")
	return own
}
