package parse

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
)

// sortFakes puts the kernels without compilation first, in the order of their first launch, with their output files and
// sessions, as if they had been known from the start.
func (r *ranker) sortFakes() {
	var fakes, real []*kernel
	for _, k := range r.order {
		if k.compiled {
			real = append(real, k)
		} else {
			fakes = append(fakes, k)
		}
	}
	r.report.Fakes = int64(len(fakes))
	r.order = append(fakes, real...)
	outs := r.outOrd
	r.outOrd = nil
	have := map[*output]bool{}
	var sess []*session
	first := map[*session]bool{}
	for _, k := range fakes {
		name := k.fakeName
		if r.outputs[name] == nil {
			r.outputs[name] = &output{name: name}
		}
		k.out = r.outputs[name]
		if !have[k.out] {
			have[k.out] = true
			r.outOrd = append(r.outOrd, k.out)
		}
		if s := r.sessions[k.fakeSite]; s != nil && !first[s] {
			first[s] = true
			sess = append(sess, s)
		}
	}
	for _, o := range outs {
		if !have[o] {
			r.outOrd = append(r.outOrd, o)
		}
	}
	for _, s := range r.sessOrd {
		if !first[s] {
			sess = append(sess, s)
		}
	}
	r.sessOrd = sess
	made := map[*session][]*kernel{}
	for _, k := range fakes {
		if s := r.sessions[k.fakeSite]; s != nil {
			made[s] = append(made[s], k)
		}
	}
	for s, ks := range made {
		s.prependFakes(ks)
	}
	for _, k := range r.order {
		k.out.kernels = append(k.out.kernels, k)
	}
}

// plan is the last numbering: which event gets which occurrence id. It follows the order of the kernels, not of the
// files, and the analyses come last.
func (r *ranker) plan() []*fileAnalyses {
	for _, k := range r.order {
		if !k.compiled {
			k.occurrence = r.occurrence
			r.occurrence++
		}
		if k.count == 0 {
			continue
		}
		if k.static != nil {
			k.roofOccurrence = r.occurrence
			r.occurrence++
		}
		k.diffOccurrence = r.occurrence
		r.occurrence++
	}
	byOutput := map[*output]*fileAnalyses{}
	wins := false
	for _, s := range r.sessOrd {
		wins = wins || len(s.wins) > 0 && s.winner != nil
		home := s.home()
		if !s.reported() || home == nil {
			continue
		}
		fa := byOutput[home.out]
		if fa == nil {
			fa = &fileAnalyses{}
			byOutput[home.out] = fa
		}
		fa.sessions = append(fa.sessions, s)
	}
	plans := make([]*fileAnalyses, len(r.outOrd))
	for i, out := range r.outOrd {
		fa := byOutput[out]
		if fa == nil {
			continue
		}
		plans[i] = fa
		fa.first = r.occurrence
		r.occurrence += int64(len(fa.sessions))
		if wins {
			fa.summary = true
			r.occurrence++
		}
		r.report.Analyses += int64(len(fa.sessions))
	}
	return plans
}

// fileAnalyses are the autotuning analyses of one output file.
type fileAnalyses struct {
	sessions []*session
	first    int64 // occurrence id of the first; the others follow, then the summary
	summary  bool
}

// groups returns the kernels of every session that compiled two or more.
func (r *ranker) groups() [][]string {
	var g [][]string
	for _, s := range r.sessOrd {
		if len(s.compiled) >= 2 {
			g = append(g, s.hashes())
		}
	}
	return g
}

// appendSummary appends the autotune_summary event: how many sessions chose each kernel.
func (r *ranker) appendSummary(dst []byte, occurrence int64) []byte {
	counts := map[*kernel]int{}
	var order []*kernel
	for _, s := range r.sessOrd {
		if s.winner == nil {
			continue
		}
		if counts[s.winner] == 0 {
			order = append(order, s.winner)
		}
		counts[s.winner]++
	}
	dst = append(dst, `{"event_type":"autotune_summary","winner_run_counts":{`...)
	for i, k := range order {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, k.hashKey()...), ':')
		dst = strconv.AppendInt(dst, int64(counts[k]), 10)
	}
	dst = append(dst, `},"occurrence_id":`...)
	dst = strconv.AppendInt(dst, occurrence, 10)
	return append(dst, '}')
}

// write writes the output files of the rank to a folder.
func (r *ranker) write(ctx context.Context, dir string) ([]FileReport, error) {
	if err := r.spill.seal(); err != nil {
		return nil, err
	}
	r.sortFakes()
	plans := r.plan()
	groups := r.groups()
	var files []FileReport
	for i, out := range r.outOrd {
		w := newWriter(r.o, r.spill, dir, out.name)
		err := r.writeFile(ctx, w, out, plans[i], groups)
		if err == nil {
			err = w.finish()
		} else {
			w.abandon()
		}
		files = append(files, w.files...)
		if err != nil {
			return files, fmt.Errorf("parse: output %s: %w", out.name, err)
		}
	}
	return files, nil
}

func (r *ranker) writeFile(ctx context.Context, w *writer, out *output, fa *fileAnalyses, groups [][]string) error {
	for _, k := range out.kernels {
		if err := ctx.Err(); err != nil {
			return err
		}
		if k.fake != nil && !k.compiled {
			line := append(bytes.Clone(k.fake), `,"occurrence_id":`...)
			line = strconv.AppendInt(line, k.occurrence, 10)
			k.head.pend.B = append(line, "}\n"...)
			k.head.pendLines = 1
		}
		var roof, diff []byte
		if k.count > 0 {
			if k.static != nil {
				roof = append(k.appendRoofline(nil, k.roofOccurrence), '\n')
			}
			diff = append(k.appendLaunchDiff(nil, k.diffOccurrence, !r.o.compat), '\n')
		}
		if err := w.kernel(ctx, k, roof, diff); err != nil {
			return err
		}
		k.release()
	}
	if fa == nil {
		return nil
	}
	for i, s := range fa.sessions {
		r.line = append(s.appendAnalysis(r.line[:0], groups, fa.first+int64(i), !r.o.compat, w.drain), '\n')
		if w.failed != nil {
			return w.failed
		}
		if err := w.event(r.line, "autotune_analysis"); err != nil {
			return err
		}
	}
	if fa.summary {
		r.line = append(r.appendSummary(r.line[:0], fa.first+int64(len(fa.sessions))), '\n')
		return w.event(r.line, "autotune_summary")
	}
	return nil
}
