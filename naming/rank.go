package naming

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// Rank is the number of a process in a distributed job, from 0 up, or NoRank.
type Rank int

// NoRank is the rank of a process that belongs to no job. In a name it reads "none".
const NoRank Rank = -1

// rankVariables are asked in this order: PyTorch's launcher, Open MPI, Slurm, and the process managers of MPICH and its
// kin.
var rankVariables = [...]string{"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"}

// rankPeriod is how many calls share one look at the environment. A look costs up to 0.1 µs.
const rankPeriod = 64

// EnvRank returns a function that tells this process's rank: the first of RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID and
// PMI_RANK that holds a whole number from 0 up, or NoRank.
//
// The function is made to be called for each event: it looks at the environment at its first call and at every 64th
// after that, so that a program that sets its rank later is noticed within 64 calls. It allocates nothing and is safe
// for concurrent use.
func EnvRank() func() Rank {
	var calls atomic.Uint64
	const lowest = int64(NoRank) - 1
	var known atomic.Int64 // the rank less lowest; 0 before the first look
	return func() Rank {
		r := known.Load()
		if calls.Add(1)%rankPeriod == 1 || r == 0 { // a call beside the first one cannot wait for that
			r = int64(lookRank()) - lowest
			known.Store(r)
		}
		return Rank(r + lowest)
	}
}

func lookRank() Rank {
	for _, name := range rankVariables {
		value := strings.TrimSpace(os.Getenv(name))
		if value == "" {
			continue
		}
		if n, err := strconv.ParseUint(value, 10, strconv.IntSize-1); err == nil {
			return Rank(n)
		}
	}
	return NoRank
}
