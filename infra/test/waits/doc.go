// Package waits contains only tests. They run the events in a pending export's life in every order, in virtual time.
// They check that no worker claims the export too early, that no two workers claim it at once, and that it is not
// claimed too late (docs/adr/0046-when-a-task-can-be-claimed.md).
package waits
