package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/tracehandler/tracehandler/clp/ir"
)

// expected is an event as the reference should see it.
type expected struct {
	millis, zone int64 // zone in minutes
	level        int
	text         []byte // JSON
}

// compare decodes file with the reference and compares each event with what next gives; io.EOF ends it.
func compare(script, file string, next func() (expected, error)) (n int, err error) {
	cmd := exec.Command("node", script, file)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() {
		if werr := cmd.Wait(); err == nil && werr != nil {
			err = werr
		}
	}()
	defer func() {
		if err != nil {
			_ = cmd.Process.Kill() // it may wait for us to read on
		}
	}()
	in := bufio.NewReaderSize(out, 1<<20)
	head, err := in.ReadString('\n')
	if err != nil || !strings.HasPrefix(head, "stream ") {
		return 0, fmt.Errorf("the reference says %q, %v", head, err)
	}
	for {
		want, wantErr := next()
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" && wantErr == io.EOF {
			return n, nil
		}
		if wantErr != nil || err != nil {
			return n, fmt.Errorf("the reference has %.200q (%v), we have %.200q (%v)", line, err, want.text, wantErr)
		}
		if err := same(strings.TrimSuffix(line, "\n"), want); err != nil {
			return n, err
		}
		n++
	}
}

func same(line string, want expected) error {
	head := fmt.Sprintf("event %d %d %d ", want.millis, want.zone, want.level)
	text, ok := strings.CutPrefix(line, head)
	if !ok {
		return fmt.Errorf("got %.100q, want %q", line, head)
	}
	if text == string(want.text) {
		return nil
	}
	a, err := parse([]byte(text))
	if err != nil {
		return fmt.Errorf("the reference prints no JSON: %.200q", text)
	}
	b, err := parse(want.text)
	if err != nil {
		return fmt.Errorf("not JSON: %.200q", want.text)
	}
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("got  %.2000s\nwant %.2000s", text, want.text)
	}
	return nil
}

// parse decodes JSON such that equal means equal: integers as their digits, floats as their bits.
func parse(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return numbers(v), err
}

func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if v == "-0" { // the reference reads it as an integer
			return json.Number("0")
		}
		if !strings.ContainsAny(v.String(), ".eE") {
			return v
		}
		if f, err := v.Float64(); err == nil {
			return math.Float64bits(f)
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return v
}

// agree compares the reference with our own decoder on a file.
func agree(script, dir, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	r, err := ir.NewReader(bytes.NewReader(data), nil)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Width() == ir.EightByte {
		fmt.Printf("%-60s eight-byte: the reference refuses it\n", file)
		return nil
	}
	read := file
	if data[0] == 0xFD { // raw: the reference takes only zstd
		read = filepath.Join(dir, "stored.clp.zst")
		if err := os.WriteFile(read, stored(data), 0o600); err != nil {
			return err
		}
	}
	n, err := compare(script, read, func() (expected, error) {
		e, err := r.Next()
		if err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) { // the reference keeps whole events, too
				err = io.EOF
			}
			return expected{}, err
		}
		return ours(r, e)
	})
	if err != nil {
		return fmt.Errorf("event %d: %w", n, err)
	}
	fmt.Printf("%-60s %9d events  equal\n", file, n)
	return nil
}

// ours is an event as our decoder sees it, in the words of the reference.
func ours(r *ir.Reader, e *ir.Event) (x expected, err error) {
	if r.IsText() {
		message, err := e.AppendMessage(nil)
		if err != nil {
			return x, err
		}
		return expected{e.Time(), e.UTCOffset() / 60_000, int(e.Level()), ir.AppendQuoted(nil, message)}, nil
	}
	if v, ok := e.Lookup(ir.Auto, "timestamp", "unix_millisecs"); ok && v.Kind() == ir.Int {
		x.millis = v.Int()
	}
	if v, ok := e.Lookup(ir.Auto, "timestamp", "utc_offset_secs"); ok && v.Kind() == ir.Int {
		x.zone = v.Int() / 60
	}
	if v, ok := e.Lookup(ir.Auto, "level", "name"); ok && v.Kind() == ir.String {
		name, err := v.AppendText(nil)
		if err != nil {
			return x, err
		}
		for l := ir.Trace; l <= ir.Fatal; l++ {
			if strings.EqualFold(string(name), l.String()) {
				x.level = int(l)
			}
		}
	}
	x.text, err = e.AppendJSON(nil)
	return x, err
}
