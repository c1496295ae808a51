package blob

import "context"

// mark is a place in an object that is being written.
type mark struct {
	parts  int    // uploaded before it
	size   int    // bytes of the next part before it
	buffer []byte // holds those bytes once that part has been uploaded; reused from mark to mark
}

// Mark remembers the place after the last byte written and forgets the one before. A new object is marked at its
// beginning.
func (w *writer) Mark() {
	w.mark.parts, w.mark.size = len(w.parts), len(w.buffer)
}

// Rewind takes back everything that was written since the mark, which stays where it is. A part that was uploaded
// since then is uploaded again under its number, or not listed when the object is made: S3 drops it either way. An
// object that failed stays failed.
func (w *writer) Rewind(ctx context.Context) error {
	if w.failed != nil {
		return w.failed
	}
	if len(w.parts) > w.mark.parts && w.mark.size > 0 {
		w.buffer, w.mark.buffer = w.mark.buffer, w.buffer
	}
	w.buffer, w.parts = w.buffer[:w.mark.size], w.parts[:w.mark.parts]
	if len(w.parts) == 0 {
		w.drop(ctx) // what is left may fit in one call, and an upload without parts cannot be completed
	}
	return nil
}

// keepMarked sets the marked bytes of the part that was just uploaded aside. The buffers change places, because
// copying would cost a part's size for every part when each line is marked.
func (w *writer) keepMarked() {
	if len(w.parts) == w.mark.parts && w.mark.size > 0 {
		w.buffer, w.mark.buffer = w.mark.buffer, w.buffer
	}
}
