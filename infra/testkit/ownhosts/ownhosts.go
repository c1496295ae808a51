// Package ownhosts provides the service's hosts for tests. If no hosts are configured, package weburl rejects every
// URL.
package ownhosts

import "recordbridge/shared/words/weburl"

// Own returns the hosts of a test service at https://api.recordbridge.example, https://api.example and 127.0.0.1:4566.
// If NewOwn fails, Own returns a value that rejects every URL.
func Own() weburl.Own {
	own, _ := weburl.NewOwn("https://api.recordbridge.example/v1 https://api.example/v1 http://127.0.0.1:4566/v1")
	return own
}
