package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// peer asks all queries of an archive that clp-s makes of the log: clp-s and us, in turns, to count what is found and to print it.
func (f *files) peer(clps, dir string, rounds int) error {
	path, err := packPeer(clps, dir)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "query\thits\tclp-s's\tcount ms\tclp-s ms\tratio\tprint ms\tclp-s ms\tratio\t")
	for _, q := range f.queries {
		var times [4][]time.Duration
		var texts [4]string
		for range rounds {
			for i, c := range [4][]string{
				{self, "-child", q.query, path}, {clps, "s", path, q.query, "--count"},
				{self, "-print", "-child", q.query, path}, {clps, "s", path, q.query},
			} {
				text, t, err := measure(c[0], c[1:]...)
				if err != nil {
					return fmt.Errorf("%v: %w", c, err)
				}
				texts[i], times[i] = text, append(times[i], t)
			}
		}
		var m [4]float64
		for i := range times {
			slices.Sort(times[i])
			m[i] = ms(times[i][rounds/2])
		}
		hits, theirs, err := equalHits(texts)
		if err != nil {
			return fmt.Errorf("%s: %w", q.query, err)
		}
		fmt.Fprintf(out, "%s\t%d\t%s\t%.1f\t%.1f\t%.3f\t%.1f\t%.1f\t%.3f\t\n", q.name, hits, theirs, m[0], m[1], m[0]/m[1], m[2], m[3], m[2]/m[3])
	}
	return out.Flush()
}

// equalHits compares what was found: our count with the lines that we print, which need not be what clp-s counts.
func equalHits(texts [4]string) (hits int64, theirs string, err error) {
	var a answer
	if err := json.Unmarshal([]byte(texts[0]), &a); err != nil {
		return 0, "", err
	}
	if n := int64(strings.Count(texts[2], "\n")); n != a.Hits {
		return 0, "", fmt.Errorf("%d are counted and %d printed", a.Hits, n)
	}
	var c struct{ Count int64 }
	if texts[1] == "" { // it says nothing of an archive without a hit
		return a.Hits, "0", nil
	}
	err = json.Unmarshal([]byte(texts[1]), &c)
	return a.Hits, strconv.FormatInt(c.Count, 10), err
}

// packPeer has clp-s make an archive of the log, if it is not there yet.
func packPeer(clps, dir string) (string, error) {
	out := filepath.Join(dir, "clp-s")
	if _, err := os.Stat(out); err != nil {
		text, err := exec.Command(clps, "c", "--single-file-archive", "--timestamp-key", "time", out, filepath.Join(dir, "log.ndjson")).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%s: %w: %s", clps, err, text)
		}
	}
	list, err := filepath.Glob(filepath.Join(out, "*"))
	if err == nil && len(list) != 1 {
		err = errors.New("clp-s has not made one archive in " + out)
	}
	if err != nil {
		return "", err
	}
	st, err := os.Stat(list[0])
	if err == nil {
		fmt.Printf("%-16s %12d bytes\n", "clp-s's archive", st.Size())
	}
	return list[0], err
}
