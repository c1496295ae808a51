package blob

import "context"

// mark is a position in an object that is still being written.
type mark struct {
	parts  int    // number of parts uploaded before the mark
	size   int    // number of bytes of the next part that precede the mark
	buffer []byte // bytes before the mark after the part's upload, which reuses buffer
}

// Mark records the current end of the object, replacing the previous mark. A new object's mark is at the beginning.
func (w *writer) Mark() {
	w.mark.parts, w.mark.size = len(w.parts), len(w.buffer)
}

// Rewind discards all data written since the mark. The mark remains set. A part uploaded since the mark is either
// uploaded again under the same number or omitted when the upload completes. Either way, S3 drops the discarded data.
// If the object's upload has already failed, Rewind does not repair the upload.
func (w *writer) Rewind(ctx context.Context) error {
	if w.failed != nil {
		return w.failed
	}
	if len(w.parts) > w.mark.parts && w.mark.size > 0 {
		w.buffer, w.mark.buffer = w.mark.buffer, w.buffer
	}
	w.buffer, w.parts = w.buffer[:w.mark.size], w.parts[:w.mark.parts]
	if len(w.parts) == 0 {
		w.drop(ctx) // the rest may fit into a single call, but an upload without parts can't be completed
	}
	return nil
}

// keepMarked saves the marked bytes of the part that was just uploaded, by swapping the buffers. Copying would cost a
// full part's size for every part if every line is marked.
func (w *writer) keepMarked() {
	if len(w.parts) == w.mark.parts && w.mark.size > 0 {
		w.buffer, w.mark.buffer = w.mark.buffer, w.buffer
	}
}
