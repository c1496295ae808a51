// Package seed gives a fresh local stack something to work with: two organisations with credentials and webhooks to the
// local inbox, and the sandbox as a connectable institution. It goes through shared/manage/operator, as any operator's
// program does; nothing here writes to a table itself.
package seed
