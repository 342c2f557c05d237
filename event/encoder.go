package event

import "log/slog"

// Options change what an encoder writes. The fields mean what those of the same names of [slog.HandlerOptions] mean.
type Options struct {
	// ReplaceAttr is called for each attribute that is not a group, and for the built-in ones with no groups. Its
	// groups are valid during the call only. What it returns is resolved; a zero Attr drops the attribute. If it
	// panics, the attribute's value becomes the text "!PANIC: …", so that what it may have had to hide stays hidden.
	ReplaceAttr func(groups []string, a slog.Attr) slog.Attr

	// AddSource adds the function, file and line of the log call. Each call site is looked up once.
	AddSource bool
}

// Encoder turns records into events of one format. It is immutable and safe for concurrent use; the buffers are not.
type Encoder interface {
	// WithAttrs returns an encoder that adds attrs, in the groups that are open, to each record. The attributes are
	// formatted now, and a [slog.LogValuer] among them is asked now, once.
	WithAttrs(attrs []slog.Attr) Encoder

	// WithGroup returns an encoder that puts the attributes that follow into the group name. It returns the receiver
	// if name is empty.
	WithGroup(name string) Encoder

	// AppendRecord appends one event to b: the built-in attributes of r, then extra outside of all groups, then the
	// attributes of WithAttrs, then those of r.
	AppendRecord(b *Buffer, r slog.Record, extra []slog.Attr)

	// AppendEvent appends e to b as it is: neither the encoder's attributes and groups nor its options touch it.
	AppendEvent(b *Buffer, e Event)
}
