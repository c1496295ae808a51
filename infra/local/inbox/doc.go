// Package inbox receives webhooks on behalf of the seeded organisations, so that a person, a script or a test can see
// what the service delivered. It owns what was received, newest 1000 only, in memory. It does not send anything, and
// it accepts whatever comes: whether a delivery is genuine is told beside it, and no condition.
package inbox
