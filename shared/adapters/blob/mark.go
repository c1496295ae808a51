package blob

import "context"

// mark is a position in an object that is still being written.
type mark struct {
	parts  int    // number of parts uploaded before the marked position
	size   int    // number of bytes before the marked position in the part not yet uploaded
	buffer []byte // bytes before the marked position, saved when their part is uploaded
}

// Mark records the current end of the object, replacing the previous mark. Initially, the beginning of the object is
// marked.
func (w *writer) Mark() {
	w.mark.parts, w.mark.size = len(w.parts), len(w.buffer)
}

// Rewind discards all data written since the last call of Mark, and keeps the mark. A part uploaded since Mark was
// called is either uploaded again under the same number or omitted when the upload completes. S3 drops the part that
// was replaced or omitted. Rewind can't recover from an upload that has already failed.
func (w *writer) Rewind(ctx context.Context) error {
	if w.failed != nil {
		return w.failed
	}
	if len(w.parts) > w.mark.parts && w.mark.size > 0 {
		w.buffer, w.mark.buffer = w.mark.buffer, w.buffer
	}
	w.buffer, w.parts = w.buffer[:w.mark.size], w.parts[:w.mark.parts]
	if len(w.parts) == 0 {
		w.drop(ctx) // a single call may suffice for the rest, and S3 can't complete an upload without parts
	}
	return nil
}

// keepMarked swaps the buffers to save the bytes before the marked position in the part that was just uploaded. If Mark
// were called at every line, copying these bytes would cost a full part's size for every part.
func (w *writer) keepMarked() {
	if len(w.parts) == w.mark.parts && w.mark.size > 0 {
		w.buffer, w.mark.buffer = w.mark.buffer, w.buffer
	}
}
