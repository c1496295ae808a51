package journal

import "os"

// WriteTo lets appended lines go to another file, and returns the one before.
func (l *Log) WriteTo(file *os.File) (before *os.File) {
	before, l.file = l.file, file
	return before
}
