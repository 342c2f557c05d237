package naming_test

import (
	"sync"
	"testing"

	"github.com/tracehandler/tracehandler/naming"
)

func setRanks(t *testing.T, rank, ompi, slurm, pmi string) {
	t.Setenv("RANK", rank)
	t.Setenv("OMPI_COMM_WORLD_RANK", ompi)
	t.Setenv("SLURM_PROCID", slurm)
	t.Setenv("PMI_RANK", pmi)
}

func TestEnvRank(t *testing.T) {
	tests := []struct {
		rank, ompi, slurm, pmi string
		want                   naming.Rank
	}{
		{"", "", "", "", naming.NoRank},
		{"3", "4", "5", "6", 3},
		{"", "4", "5", "6", 4},
		{"", "", "5", "6", 5},
		{"", "", "", "6", 6},
		{"0", "4", "", "", 0},
		{" 7\n", "", "", "", 7},
		{"x", "-1", "5", "", 5},
		{"99999999999999999999", "", "", "", naming.NoRank},
	}
	for _, tt := range tests {
		setRanks(t, tt.rank, tt.ompi, tt.slurm, tt.pmi)
		rank := naming.EnvRank()
		for range 200 {
			if got := rank(); got != tt.want {
				t.Fatalf("%+v: rank %d", tt, got)
			}
		}
	}
}

func TestEnvRankChanges(t *testing.T) {
	setRanks(t, "", "", "", "")
	rank := naming.EnvRank()
	if got := rank(); got != naming.NoRank {
		t.Fatalf("rank %d before it is set", got)
	}
	t.Setenv("RANK", "9")
	for range 63 {
		rank()
	}
	if got := rank(); got != 9 {
		t.Errorf("rank %d after 64 calls, want 9", got)
	}
}

func TestEnvRankConcurrent(t *testing.T) {
	setRanks(t, "2", "", "", "")
	rank := naming.EnvRank()
	rank()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				if got := rank(); got != 2 {
					t.Errorf("rank %d, want 2", got)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestEnvRankAllocs(t *testing.T) {
	setRanks(t, "", "", "", " 5 ")
	rank := naming.EnvRank()
	if n := testing.AllocsPerRun(1000, func() { rank() }); n != 0 {
		t.Errorf("%v allocations a call", n)
	}
}

func BenchmarkEnvRank(b *testing.B) {
	for _, v := range []string{"", "17"} {
		b.Run("RANK="+v, func(b *testing.B) {
			b.Setenv("RANK", v)
			rank := naming.EnvRank()
			b.ReportAllocs()
			for b.Loop() {
				rank()
			}
		})
	}
}

// TestEnvRankAtOnce: also who asks beside the first caller is told the rank.
func TestEnvRankAtOnce(t *testing.T) {
	setRanks(t, "3", "", "", "")
	for range 20_000 {
		rank := naming.EnvRank()
		var all sync.WaitGroup
		start := make(chan struct{})
		for range 4 {
			all.Go(func() {
				<-start
				if got := rank(); got != 3 {
					t.Errorf("rank %d", got)
				}
			})
		}
		close(start)
		all.Wait()
	}
}
