// Package ownhosts provides the service's hosts for tests. Without configured hosts, a function rejects every URL
// (package weburl).
package ownhosts

import "recordbridge/shared/words/weburl"

// Own returns the hosts of a test service at https://api.recordbridge.example, https://api.example and port 4566 on
// this machine. If NewOwn fails, the result rejects every URL.
func Own() weburl.Own {
	own, _ := weburl.NewOwn("https://api.recordbridge.example/v1 https://api.example/v1 http://127.0.0.1:4566/v1")
	return own
}
