module github.com/tracehandler/tracehandler/internal/bench

go 1.26.0

require github.com/tracehandler/tracehandler v0.0.0

require (
	github.com/klauspost/compress v1.20.4
	github.com/phuslu/log v1.0.121
	github.com/rs/zerolog v1.35.1
	go.uber.org/zap v1.28.0
	go.uber.org/zap/exp v0.3.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.22 // indirect
	go.uber.org/multierr v1.10.0 // indirect
)

replace github.com/tracehandler/tracehandler => ../..
