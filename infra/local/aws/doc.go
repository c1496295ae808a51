// Package aws owns the embedded AWS as one piece: it joins the services on one HTTP handler, finds out which call a
// request is, has its signature verified, runs the middleware around it, and keeps the journal. It emulates nothing
// itself; each service is a package beside this one, and package wire is what they share.
//
// The same Cloud serves a loopback port (ServeHTTP) and SDK clients in the same process (Do, Config). The second way
// opens no socket, so it works under the virtual clock of testing/synctest.
package aws
