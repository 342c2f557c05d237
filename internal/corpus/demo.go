package corpus

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Secret is a value that must not reach a trace; its LogValue hides it.
type Secret string

// LogValue returns a placeholder.
func (Secret) LogValue() slog.Value { return slog.StringValue("[hidden]") }

var (
	methods = []string{"GET", "GET", "GET", "GET", "POST", "PUT", "DELETE"}
	routes  = []string{"/v1/items/{id}", "/v1/items", "/v1/orders/{id}", "/v1/orders", "/v1/search", "/healthz", "/v1/users/{id}/cart"}
	agents  = []string{"curl/8.14.1", "Go-http-client/2.0", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "python-requests/2.32.3"}
	queries = []string{
		"SELECT id, name, price FROM items WHERE id = $1",
		"SELECT * FROM orders WHERE user_id = $1 AND state <> 'closed' ORDER BY created DESC LIMIT 50",
		"UPDATE carts SET items = items || $2 WHERE user_id = $1",
		"INSERT INTO audit (at, who, what) VALUES ($1, $2, $3)",
	}
	kernels  = []string{"matmul_kernel", "softmax_fwd", "layer_norm_bwd_dx", "add_kernel", "flash_attention_v2"}
	failures = []error{
		errors.New("dial tcp 10.0.3.17:5432: connect: connection refused"),
		errors.New("context deadline exceeded"),
		fmt.Errorf("decode body: %w", errors.New(`invalid character '<' looking for beginning of value`)),
		errors.New("upstream says: \"no healthy <host>\" & gave up"),
	}
	cities = []string{"Zürich", "São Paulo", "København", "東京", "Kraków", "Boston"}
)

const stack = `goroutine 184 [running]:
main.(*server).checkout(0xc0001b2000, {0x7f2a18, 0xc0004e6060}, 0xc0002f4140)
	/srv/shop/checkout.go:118 +0x2f4
main.(*server).ServeHTTP(0xc0001b2000, {0x7f29a8, 0xc0001681c0}, 0xc0002f4140)
	/srv/shop/server.go:61 +0x1a8
net/http.serverHandler.ServeHTTP({0xc000112d20?}, {0x7f29a8?, 0xc0001681c0?}, 0x6?)
	/usr/local/go/src/net/http/server.go:3340 +0x8e`

// request tells one request from its arrival to its answer.
func (s *Stream) request() {
	trace := slog.String("trace_id", s.hex(16))
	span := func() slog.Attr { return slog.String("span_id", s.hex(8)) }
	method, route := pick(s, methods), pick(s, routes)
	user := 1000 + s.rnd.IntN(5000)
	start := s.now

	s.emit(2*time.Millisecond, slog.LevelInfo, "request started", trace, span(),
		slog.Group("http", slog.String("method", method), slog.String("route", route), slog.String("agent", pick(s, agents))),
		slog.Group("client", slog.String("addr", fmt.Sprintf("10.%d.%d.%d:%d", s.rnd.IntN(4), s.rnd.IntN(256), s.rnd.IntN(256), 1024+s.rnd.IntN(60000))),
			slog.String("city", pick(s, cities)), slog.Int("user", user)))

	if s.chance(400) {
		s.emit(50*time.Microsecond, slog.LevelDebug, "token checked", trace, span(),
			slog.Any("token", Secret(s.hex(12))), slog.Bool("valid", !s.chance(20)),
			slog.Time("expires", s.now.Add(time.Hour).Truncate(time.Second)))
	}
	hit := s.chance(600)
	s.emit(30*time.Microsecond, slog.LevelDebug, "cache lookup", trace, span(),
		slog.String("key", fmt.Sprintf("item:%d", s.rnd.IntN(20000))), slog.Bool("hit", hit), slog.Duration("took", s.pause(12*time.Microsecond)))
	if !hit {
		s.query(trace, span())
	}
	for range s.rnd.IntN(3) {
		s.launch(trace, span())
	}
	status := 200
	switch {
	case s.chance(12):
		status = 500
		s.fail(trace, span(), user)
	case s.chance(40):
		status = 404
	}
	level := slog.LevelInfo
	if status >= 500 {
		level = slog.LevelError
	}
	s.emit(80*time.Microsecond, level, "request served", trace, span(),
		slog.Group("http", slog.String("method", method), slog.String("route", route), slog.Int("status", status),
			slog.Int64("bytes", int64(s.rnd.ExpFloat64()*9000))),
		slog.Duration("took", s.now.Sub(start)), slog.Float64("load", float64(s.rnd.IntN(4000))/1000))
}

func (s *Stream) query(trace, span slog.Attr) {
	took, rows := s.pause(3*time.Millisecond), s.rnd.IntN(200)
	db := slog.Group("db", slog.String("query", pick(s, queries)), slog.Int("rows", rows),
		slog.Group("pool", slog.Int("open", 8+s.rnd.IntN(24)), slog.Duration("wait", s.pause(20*time.Microsecond))))
	if took > 10*time.Millisecond {
		s.emit(took, slog.LevelWarn, "slow query", trace, span, db, slog.Duration("took", took), slog.Duration("limit", 10*time.Millisecond))
		return
	}
	s.emit(took, slog.LevelDebug, "query", trace, span, db, slog.Duration("took", took))
}

func (s *Stream) launch(trace, span slog.Attr) {
	m := 1 << (5 + s.rnd.IntN(8))
	s.emit(200*time.Microsecond, slog.LevelInfo+1, "kernel launched", trace, span,
		slog.String("kernel", pick(s, kernels)), slog.Any("grid", []int{m / 32, 1 + s.rnd.IntN(8), 1}),
		slog.Group("launch", slog.Int("stream", 7+s.rnd.IntN(4)), slog.Uint64("handle", s.rnd.Uint64()),
			slog.Int("num_warps", 1<<s.rnd.IntN(4)), slog.Float64("tflops", s.rnd.Float64()*312)),
		slog.Duration("took", s.pause(150*time.Microsecond)))
}

func (s *Stream) fail(trace, span slog.Attr, user int) {
	attrs := []slog.Attr{trace, span, slog.Any("err", pick(s, failures)), slog.Int("user", user), slog.Int("attempt", 1+s.rnd.IntN(3))}
	if s.chance(300) {
		attrs = append(attrs, slog.String("stack", stack))
	}
	s.emit(500*time.Microsecond, slog.LevelError, "checkout failed", attrs...)
}
