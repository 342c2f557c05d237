// Sizes compares archives made here with those of the reference: for each of its golden inputs and sets of options, the bytes
// that convert makes, those that an archive.Writer makes, and those of its own archive. With -sections, each is taken apart.
//
//	go run ./cmd/sizes VECTORS                   # VECTORS has index.json and inputs/
//	go run ./cmd/sizes -keep DIR VECTORS         # leaves the archives in DIR, and beside each the lines that it must give
//	go run ./cmd/sizes -sections -only 13-ts VECTORS
//
// Options that the writer does not have are left out with their archives (floats without their spelling, archives without the
// order of the log, directories, splits), but for --min-table-size, which only says how tables are packed. CLP streams are
// for convert alone.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/convert"
	"github.com/tracehandler/tracehandler/format"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(1)
	}
}

// vector is an archive of the reference, and what it was made of.
type vector struct {
	Name    string   `json:"name"`
	Variant string   `json:"variant"`
	Inputs  []string `json:"inputs"`
	Options []string `json:"options"`
	Archive []struct {
		File string `json:"file"`
		Size int64  `json:"size"`
	} `json:"archive"`
}

func (v *vector) String() string {
	if v.Variant == "default" {
		return v.Name
	}
	return v.Name + "+" + v.Variant
}

// settings are the options of a vector as they are said here.
type settings struct {
	level      int
	timeKey    string
	structured bool
}

// settings reports false if there are options that the writer does not have.
func (v *vector) settings() (s settings, ok bool) {
	if len(v.Archive) != 1 || len(v.Inputs) == 0 {
		return s, false
	}
	single := false
	for i := 0; i < len(v.Options); i++ {
		value := func() string {
			if i++; i < len(v.Options) {
				return v.Options[i]
			}
			return ""
		}
		switch v.Options[i] {
		case "--single-file-archive":
			single = true
		case "--structurize-arrays":
			s.structured = true
		case "--compression-level":
			s.level, _ = strconv.Atoi(value())
		case "--timestamp-key":
			s.timeKey = value()
		case "--min-table-size":
			value()
		case "--normalize-paths", "--remove-leading-slash":
		case "--remove-path-prefix":
			value()
		default:
			return s, false
		}
	}
	return s, single
}

func run() error {
	keep := flag.String("keep", "", "leave what convert makes in this directory")
	only := flag.String("only", "", "only vectors whose name begins so")
	sections := flag.Bool("sections", false, "print the bytes of each section")
	flag.Parse()
	if flag.NArg() != 1 {
		return fmt.Errorf("want the directory of the vectors")
	}
	root := flag.Arg(0)
	data, err := os.ReadFile(filepath.Join(root, "index.json"))
	if err != nil {
		return err
	}
	var index struct{ Vectors []vector }
	if err := json.Unmarshal(data, &index); err != nil {
		return err
	}
	dir := *keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "sizes-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	tab := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "archive\tclp-s\tconvert\tmore\tratio\tWriter\tmore\tratio\t")
	var worst [2]float64
	larger := [2]int{}
	count := 0
	for i := range index.Vectors {
		v := &index.Vectors[i]
		s, ok := v.settings()
		if !ok || !strings.HasPrefix(v.String(), *only) {
			continue
		}
		ours, err := v.make(root, dir, s)
		if err != nil {
			return fmt.Errorf("%v: %w", v, err)
		}
		theirs := v.Archive[0].Size
		fmt.Fprintf(tab, "%v\t%d\t", v, theirs)
		count++
		for k, b := range ours {
			ratio := float64(len(b)) / float64(theirs)
			worst[k] = max(worst[k], ratio)
			if int64(len(b)) > theirs {
				larger[k]++
			}
			if b == nil {
				fmt.Fprint(tab, "\t\t\t")
				continue
			}
			fmt.Fprintf(tab, "%d\t%+d\t%.3f\t", len(b), int64(len(b))-theirs, ratio)
		}
		fmt.Fprintln(tab)
		if *sections {
			tab.Flush()
			reference, err := os.ReadFile(filepath.Join(root, v.Archive[0].File))
			if err != nil {
				return err
			}
			for _, b := range [][]byte{reference, ours[0], ours[1]} {
				if err := printSections(b); err != nil {
					return err
				}
			}
		}
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	fmt.Printf("%d archives; larger than clp-s's: %d by convert (at most %.3f), %d by Writer (at most %.3f)\n", count, larger[0], worst[0], larger[1], worst[1])
	return nil
}

// make makes the archive by convert and by a Writer, as far as these can.
func (v *vector) make(root, dir string, s settings) (ours [2][]byte, err error) {
	if strings.HasSuffix(v.Inputs[0], ".clp") { // a stream, with metadata and keys of its own
		stream, err := os.ReadFile(filepath.Join(root, v.Inputs[0]))
		if err == nil {
			ours[0], err = converted(dir, v, s, ".kvir.clp", stream)
		}
		return ours, err
	}
	text, err := v.text(root)
	if err != nil {
		return ours, err
	}
	if !s.structured {
		if ours[0], err = converted(dir, v, s, ".jsonl", text); err != nil {
			return ours, err
		}
	}
	ours[1], err = written(v, s, text)
	return ours, err
}

// text returns the records that a vector was made of, one a line. What is torn at an end is left out, as the reference does.
func (v *vector) text(root string) ([]byte, error) {
	var text []byte
	for _, in := range v.Inputs {
		b, err := os.ReadFile(filepath.Join(root, in))
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(in, ".zst") {
			if b, err = unpack(b); err != nil {
				return nil, err
			}
		}
		dec := json.NewDecoder(bytes.NewReader(b))
		for {
			var record json.RawMessage
			err := dec.Decode(&record)
			if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", in, err)
			}
			if bytes.ContainsAny(record, "\r\n") {
				var line bytes.Buffer
				if err := json.Compact(&line, record); err != nil {
					return nil, err
				}
				record = line.Bytes()
			}
			text = append(append(text, record...), '\n')
		}
	}
	return text, nil
}

func unpack(b []byte) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(b, nil)
}

// converted makes the archive of a file by convert. It leaves both in dir.
func converted(dir string, v *vector, s settings, suffix string, content []byte) ([]byte, error) {
	dir = filepath.Join(dir, v.String())
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	src := filepath.Join(dir, v.Name+suffix) // about as long as the name that the reference keeps
	if err := os.WriteFile(src, content, 0o666); err != nil {
		return nil, err
	}
	dst := filepath.Join(dir, v.String()+".clp")
	_, err := convert.File(context.Background(), src, dst, format.CLP, &convert.Options{Level: s.level, TimeKey: s.timeKey, Overwrite: true, Salvage: true})
	if err != nil {
		return nil, err
	}
	return os.ReadFile(dst)
}

// written makes the archive by a Writer, with the fields that the reference has.
func written(v *vector, s settings, text []byte) ([]byte, error) {
	var out bytes.Buffer
	o := &archive.WriterOptions{Level: s.level, Structured: s.structured, Fields: []slog.Attr{slog.String("_filename", v.Name+".jsonl")}}
	if s.timeKey != "" {
		o.TimeKey = strings.Split(s.timeKey, ".")
	}
	w, err := archive.NewWriter(&out, o)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	for line := range bytes.Lines(text) {
		if err := w.Write(line); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return out.Bytes(), err
}

// printSections prints what an archive is made of.
func printSections(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	r, err := archive.Open(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		return err
	}
	defer r.Close()
	packed := b[64:][:binary.LittleEndian.Uint32(b[56:])]
	metadata, err := unpack(packed)
	if err != nil {
		return err
	}
	fmt.Printf("\tmetadata %d of %d:", len(packed), len(metadata))
	for rest := metadata[1:]; len(rest) >= 5; {
		n := binary.LittleEndian.Uint32(rest[1:])
		fmt.Printf(" %#x %d", rest[0], n)
		rest = rest[5+n:]
	}
	for _, s := range r.Sections() {
		fmt.Printf(", %s %d", s.Name, s.Bytes)
	}
	fmt.Println()
	return nil
}
