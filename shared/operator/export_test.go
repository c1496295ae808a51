package operator

import "time"

// What tests judge without rows.

// AdviseConnection is adviseConnection.
func AdviseConnection(c Connection, now time.Time) string { return adviseConnection(c, now) }

// AdviseExport is adviseExport.
func AdviseExport(e Export, endpointID string, now time.Time) string {
	return adviseExport(e, endpointID, now)
}
