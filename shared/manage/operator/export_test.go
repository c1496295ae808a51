package operator

import "time"

// What tests judge without rows.

// AdviseConnection is adviseConnection.
func AdviseConnection(c Connection, now time.Time) string { return adviseConnection(c, now) }

// AdviseExport is adviseExport.
func AdviseExport(e Export, c Connection, now time.Time) string { return adviseExport(e, c, now) }

// BlameFor is blame.
func BlameFor(e Export, c Connection) Blame { return blame(e, c) }
