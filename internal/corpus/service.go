package corpus

import (
	"fmt"
	"log/slog"
	"time"
)

var (
	hosts   = []string{"web-01", "web-02", "worker-7", "db-primary", "db-replica-2"}
	volumes = []string{"/var/lib/data", "/srv/blobs", "/tmp", "/var/log"}
	jobs    = []string{"reindex", "nightly-export", "thumbnail", "invoice-mail"}
)

// prose tells one event whose facts stand in the message, as most programs still log.
func (s *Stream) prose() {
	host := slog.String("host", pick(s, hosts))
	addr := func() string {
		return fmt.Sprintf("192.168.%d.%d:%d", s.rnd.IntN(16), s.rnd.IntN(256), 1024+s.rnd.IntN(60000))
	}
	switch k := s.rnd.IntN(100); {
	case k < 35:
		s.emit(time.Millisecond, slog.LevelInfo, fmt.Sprintf("Connection from %s closed after %.3fs, %d bytes sent, %d received",
			addr(), s.rnd.ExpFloat64()*4, s.rnd.IntN(1<<20), s.rnd.IntN(1<<14)), host)
	case k < 55:
		s.emit(time.Millisecond, slog.LevelInfo, fmt.Sprintf("Job %s-%d finished in %d ms (attempt %d of 3)",
			pick(s, jobs), s.rnd.IntN(100000), s.rnd.IntN(90000), 1+s.rnd.IntN(3)), host, slog.String("queue", "default"))
	case k < 75:
		s.emit(time.Millisecond, slog.LevelDebug, fmt.Sprintf("Flushed memtable #%d: %d keys, %.2f MB in %.1f ms",
			s.seq, s.rnd.IntN(200000), s.rnd.Float64()*64, s.rnd.Float64()*400), host)
	case k < 88:
		s.emit(time.Millisecond, slog.LevelInfo, fmt.Sprintf("User %d logged in from %s", 1000+s.rnd.IntN(5000), addr()), host)
	case k < 94:
		s.emit(time.Millisecond, slog.LevelWarn, fmt.Sprintf("Volume %s is %d%% full (%d of %d GB)",
			pick(s, volumes), 80+s.rnd.IntN(20), 800+s.rnd.IntN(200), 1000), host)
	case k < 98:
		s.emit(time.Millisecond, slog.LevelWarn, fmt.Sprintf("Retrying request %s to %s: timeout after %d ms", s.hex(4), addr(), 1000*(1+s.rnd.IntN(30))), host)
	default:
		s.emit(time.Millisecond, slog.LevelError, fmt.Sprintf("Replication from %s broken at offset 0x%x: %s",
			pick(s, hosts), s.rnd.Uint64N(1<<40), pick(s, failures)), host, slog.Int("code", 1+s.rnd.IntN(64)))
	}
}
