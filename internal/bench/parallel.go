package bench

import (
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync"
	"time"
)

// Parallel compares the throughput of one goroutine and of as many as there are cores.
func Parallel(out *Output, rounds int) {
	cores := runtime.GOMAXPROCS(0)
	out.title("In parallel", fmt.Sprintf("10 attributes through slog.Logger, to a writer that discards. Wall ns per event over all goroutines; the last column is the throughput of %d goroutines over that of one.", cores))
	var cases []Case
	var handlers []slog.Handler
	for _, p := range Peers {
		h := p.New(io.Discard, false)
		handlers = append(handlers, h)
		l := slog.New(h)
		for _, goroutines := range []int{1, cores} {
			cases = append(cases, Case{p.Name, func(n int) {
				var wg sync.WaitGroup
				for range goroutines {
					wg.Go(func() {
						for range n / goroutines {
							logTen(l)
						}
					})
				}
				wg.Wait()
			}})
		}
	}
	results := Interleave(cases, Plan{Rounds: rounds, Slice: 2 * time.Millisecond, Unit: cores})
	table := Table{Head: []string{"handler", "1 goroutine", fmt.Sprintf("%d goroutines", cores), "ours / this", "scaling"}}
	for i := range Peers {
		one, many := results[2*i].Wall, results[2*i+1].Wall
		table.add(Peers[i].Name, figure(one), figure(many), ratio(results[1].Wall, many), ratio(one, many))
		closeHandler(handlers[i])
	}
	out.table(table)
	if cores > 1 {
		out.atMost(fmt.Sprintf("10 attributes through a Logger, %d goroutines, wall / phuslu/log", cores), 0.9, results[1].Wall/results[2*len(Peers)-1].Wall)
		out.atLeast(fmt.Sprintf("throughput of %d goroutines / of one", cores), 0.85*float64(cores), results[0].Wall/results[1].Wall)
	}
}
