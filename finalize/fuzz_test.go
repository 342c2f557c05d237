package finalize

import (
	"bytes"
	"slices"
	"testing"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
)

// FuzzRecover feeds recovery with any file and any journal beside it. Recovery must come to an end, and what it publishes
// must need no further recovery.
func FuzzRecover(f *testing.F) {
	for _, fm := range formats {
		file := encode(f, fm, lines(0, 3), lines(3, 5))
		f.Add(file, []byte(nil))
		f.Add(file[:len(file)-3], []byte(nil))
		f.Add(append(file[:len(file)/2:len(file)/2], file...), []byte(nil))
		f.Add(append(bytes.Clone(file), make([]byte, 100)...), []byte(nil))
		archived, ends := journalBytes(f, "0123456789abcdef", 25)
		for _, n := range []int{len(archived), ends[0], ends[1] + 9, ends[2] - 2} {
			f.Add(archived[:n], []byte(nil))
		}
		f.Add([]byte{}, (&journal{length: int64(len(file)), events: 5}).whole(file))
	}
	f.Fuzz(func(t *testing.T, file, journal []byte) {
		fsys := crashfs.New()
		put(t, fsys, trace+".partial", file)
		if journal != nil {
			put(t, fsys, trace+journalSuffix, journal)
		}
		reports, err := Recover("/logs", &Options{FS: fsys})
		if err != nil {
			return // a kind that is not supported
		}
		rep := reports[0]
		left := names(t, fsys, "/logs")
		if rep.Removed {
			if len(left) != 0 {
				t.Fatalf("removed, but there is %q", left)
			}
			return
		}
		if rep.Kept != "" { // a damaged journal, with or without events before the damage
			if !bytes.Equal(get(t, fsys, rep.Kept), file[:len(get(t, fsys, rep.Kept))]) && journal == nil {
				t.Fatalf("%s is not the journal", rep.Kept)
			}
			if !rep.Published {
				return
			}
			left = slices.DeleteFunc(left, func(s string) bool { return "/logs/"+s == rep.Kept })
		}
		if !slices.Equal(left, []string{"trace"}) || rep.Size != int64(len(get(t, fsys, trace))) {
			t.Fatalf("%q, %+v", left, rep)
		}
		again, err := Verify(trace, &Options{FS: fsys})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Format == format.CLP {
			if !again.OK() || again.Events != rep.Events || again.Format != format.CLP {
				t.Fatalf("recovered: %+v\nverified: %+v", rep, again)
			}
			return
		}
		if again.TornBytes != 0 || again.Events != rep.Events || again.Text != rep.Text || again.DamageBytes != rep.DamageBytes {
			t.Fatalf("recovered: %+v\nverified: %+v", rep, again)
		}
		if journal == nil && rep.Format == format.Gzip && !bytes.HasPrefix(get(t, fsys, trace), file[:len(file)-int(rep.TornBytes)]) {
			t.Fatalf("something changed before the torn end: %+v", rep)
		}
	})
}

// whole returns the bytes of a journal of the given frames.
func (j *journal) whole(frames []byte) []byte {
	return append(bytes.Clone(frames), j.trailer(checksum(frames))...)
}
