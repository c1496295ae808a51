package operator

import "time"

// The exported functions below let tests call internal functions without stored rows.

// AdviseConnection exports adviseConnection to tests.
func AdviseConnection(c Connection, now time.Time) string { return adviseConnection(c, now) }

// AdviseExport exports adviseExport to tests.
func AdviseExport(e Export, c Connection, now time.Time) string { return adviseExport(e, c, now) }

// BlameFor makes blame available to tests.
func BlameFor(e Export, c Connection) Blame { return blame(e, c) }
