// Package journal owns the folder in which the embedded AWS keeps its state between two runs: the lock that keeps it to
// one process, and one file with a header and then one JSON line per record. A start reads the file and puts a snapshot
// of what it stands for in its place; from then on every change appends its line. It knows no service: what a record
// means, and what the whole state is, comes from whoever opened it (docs/embedded-aws.md, "Keeping data").
//
// A process that is killed leaves at most a last line without its end, of which nobody was told that it is stored.
// Bytes are synced to the disk by a start only, so a power cut may cost the changes since.
package journal
