package slogkv

import (
	"log/slog"
)

// Keys of auto-generated values.
const (
	keyTimestamp = "timestamp"
	keyMillis    = "unix_millisecs"
	keyOffset    = "utc_offset_secs"
	keyNanos     = "sub_millisec_nanos"

	keyLevel = "level"
	keyName  = "name"
	keyNum   = "num"

	keySource   = "source_location"
	keyPath     = "path"
	keyLine     = "line"
	keyFunction = "function"

	keyViewer = "viewer"

	keyExact   = "exact"
	keyNumbers = "numbers"
	keyPoint   = "point"
	keyJSON    = "json"
)

// Keys of user-generated values: the message, and what a viewer looks for that nobody has told of this mapping.
const (
	keyMessage = "message"
	keyLog     = "log"
)

// viewerLeaves is how many values a viewer gets before the message.
const viewerLeaves = 2

// levelName returns the name that CLP's libraries have for a level.
func levelName(l slog.Level) string {
	switch {
	case l < slog.LevelDebug:
		return "TRACE"
	case l < slog.LevelInfo:
		return "DEBUG"
	case l < slog.LevelWarn:
		return "INFO"
	case l < slog.LevelError:
		return "WARN"
	case l < slog.LevelError+4:
		return "ERROR"
	}
	return "FATAL"
}
