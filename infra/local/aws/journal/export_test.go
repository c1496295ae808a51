package journal

import "os"

// WriteTo redirects appended lines to another file and returns the previous file.
func (l *Log) WriteTo(file *os.File) (before *os.File) {
	before, l.file = l.file, file
	return before
}
