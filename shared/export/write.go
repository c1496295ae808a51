package export

import (
	"context"
	"errors"
	"fmt"
	"io"

	"recordbridge/shared/fault"
	"recordbridge/shared/fhir"
)

// write appends a resource to the segment, once, and notes what it refers to.
func (c *collector) write(resource fhir.Resource) error {
	name := resource.Type + "/" + resource.ID
	if resource.ID == "" {
		name = string(resource.JSON) // without an id only the content tells resources apart
	}
	if !c.state.firstTime(name) {
		return nil
	}
	c.line = resource.AppendLine(c.line[:0])
	n, err := c.out.Write(c.line)
	c.bytes += int64(n)
	if err != nil {
		return fmt.Errorf("write segment: %w", err)
	}
	c.state.Counts[resource.Type]++
	for _, reference := range resource.References {
		c.note(reference)
	}
	for _, attachment := range resource.Attachments {
		c.note(attachment.URL)
	}
	return nil
}

func (c *collector) note(reference string) {
	resourceType, id, ok := fhir.ParseReference(reference, c.base)
	if ok && followed(resourceType) {
		c.state.enqueue(resourceType + "/" + id)
	}
}

// closeSegment makes the segment an object, unless nothing was written to it.
func (c *collector) closeSegment(ctx context.Context) error {
	if c.bytes == 0 {
		c.out.Abort(ctx)
		return nil
	}
	if err := c.out.Close(ctx); err != nil {
		return fmt.Errorf("close segment: %w", err)
	}
	c.state.Segments = append(c.state.Segments, segment{Key: segmentKey(c.task), Bytes: c.bytes})
	return nil
}

// complete makes the one file of the task and stores the result.
func (c *collector) complete(ctx context.Context) error {
	if err := c.closeSegment(ctx); err != nil {
		return err
	}
	file := File{Name: fileName(c.task)}
	for _, s := range c.state.Segments {
		file.Bytes += s.Bytes
	}
	if len(c.state.Segments) == 1 {
		file.Key = c.state.Segments[0].Key
	} else {
		file.Key = fileKey(c.task)
		if err := c.join(ctx, file.Key); err != nil {
			return err
		}
	}
	err := c.worker.succeed(ctx, c.task, file, c.state.stats(), c.state.Outcome)
	if errors.Is(err, fault.Conflict) {
		return errTakenOver // the segments are the other worker's now
	}
	if err != nil {
		return err
	}
	// The heartbeat may find the task finished and cancel the run; what is left over is ours all the same.
	c.tidy(context.WithoutCancel(ctx), file.Key)
	return nil
}

func (c *collector) join(ctx context.Context, key string) error {
	out, err := c.worker.Files.Create(ctx, key, ContentType)
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	for _, s := range c.state.Segments {
		if err := c.copySegment(ctx, out, s); err != nil {
			out.Abort(context.WithoutCancel(ctx))
			return err
		}
	}
	if err := out.Close(ctx); err != nil {
		return fmt.Errorf("close file: %w", err)
	}
	return nil
}

func (c *collector) copySegment(ctx context.Context, out io.Writer, s segment) error {
	body, err := c.worker.Files.Open(ctx, s.Key)
	if err != nil {
		return fmt.Errorf("open segment: %w", err)
	}
	defer func() { _ = body.Close() }()
	n, err := io.Copy(out, body)
	if err != nil {
		return fmt.Errorf("copy segment: %w", err)
	}
	if n != s.Bytes {
		return fmt.Errorf("segment has %d bytes, wrote %d", n, s.Bytes)
	}
	return nil
}

// tidy deletes what the finished file has replaced. What a crash leaves behind goes with the file, when its time is over.
func (c *collector) tidy(ctx context.Context, kept string) {
	for _, s := range c.state.Segments {
		if s.Key != kept {
			_ = c.worker.Files.Delete(ctx, s.Key)
		}
	}
	for _, key := range append(c.state.Spent, c.task.Checkpoint) {
		if key != "" {
			_ = c.worker.Files.Delete(ctx, key)
		}
	}
}
