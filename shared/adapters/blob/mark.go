package blob

import "context"

// mark is a position in an object that is being written.
type mark struct {
	parts  int    // number of parts uploaded before the mark
	size   int    // number of bytes of the next part that precede the mark
	buffer []byte // those bytes, once that part is uploaded; reused by later marks
}

// Mark records the current end of the object, replacing the previous mark. A new object is marked at its beginning.
func (w *writer) Mark() {
	w.mark.parts, w.mark.size = len(w.parts), len(w.buffer)
}

// Rewind discards everything written since the mark, which remains set. A part uploaded since then is either uploaded
// again under the same number or omitted when the upload completes; S3 drops it in both cases. An object that has
// failed remains failed.
func (w *writer) Rewind(ctx context.Context) error {
	if w.failed != nil {
		return w.failed
	}
	if len(w.parts) > w.mark.parts && w.mark.size > 0 {
		w.buffer, w.mark.buffer = w.mark.buffer, w.buffer
	}
	w.buffer, w.parts = w.buffer[:w.mark.size], w.parts[:w.mark.parts]
	if len(w.parts) == 0 {
		w.drop(ctx) // the rest may fit into one call, and S3 can't complete an upload without parts
	}
	return nil
}

// keepMarked saves the marked bytes of the part that was just uploaded. It swaps the buffers: if every line is marked,
// copying would cost a part's size for every part.
func (w *writer) keepMarked() {
	if len(w.parts) == w.mark.parts && w.mark.size > 0 {
		w.buffer, w.mark.buffer = w.mark.buffer, w.buffer
	}
}
