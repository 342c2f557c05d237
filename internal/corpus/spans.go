package corpus

import (
	"log/slog"
	"time"
)

var operations = []string{"GET /v1/items", "POST /v1/orders", "db.query", "cache.get", "queue.publish", "render", "auth.verify"}

// span tells one finished span.
func (s *Stream) span() {
	took := s.pause(900 * time.Microsecond)
	status, level := "ok", slog.LevelInfo
	if s.chance(15) {
		status, level = "error", slog.LevelError
	}
	s.emit(400*time.Microsecond, level, "span",
		slog.String("trace_id", s.hex(16)), slog.String("span_id", s.hex(8)), slog.String("parent_id", s.hex(8)),
		slog.String("name", pick(s, operations)), slog.String("kind", pick(s, []string{"server", "client", "internal"})),
		slog.Time("start", s.now.Add(-took)), slog.Duration("took", took), slog.String("status", status),
		slog.Int("links", s.rnd.IntN(3)), slog.Float64("sampled", float64(s.rnd.IntN(100))/100))
}
