// Package archive reads and writes CLP archives: logs in columns, compressed, with everything that searching needs. An
// archive is a single file (by convention *.clp) or a directory. Versions 0.4.0 to 0.5.1 of the format are read, whatever
// wrote them; single files of 0.5.1 are written. Package kql searches them.
//
//	r, err := archive.Open(file, size, nil)
//	defer r.Close()
//	for record, err := range r.All() { // in the order of the log
//		if err != nil {
//			return err // comes behind all records that can be read
//		}
//		line, err = record.AppendJSON(line[:0])
//	}
//
//	w, err := archive.NewWriter(file, &archive.WriterOptions{TimeKey: []string{"time"}})
//	err = w.Write(line)
//	err = w.Close() // only now the file is written
//
// # Format
//
//	archive  = header (64 bytes) metadata sections
//	metadata = zstd( packets: where the sections are, range of time, patterns of times, where records came from )
//	sections = /schema_tree     keys of all records, merged into one tree; a node has a key and a type
//	           /schema_ids      schemas: the sets of nodes that records have
//	           /table_metadata  tables and where they are: the records of one schema are one table
//	           /var.dict        texts of variables, and strings without a space
//	           /log.dict        log types: texts with placeholders for variables
//	           /array.dict      log types of arrays that are kept as text
//	           /0               streams = zstd( table … )
//	table    = column …, each: the values of one node, 8 bytes a record as a rule
//
// In a directory archive the header with the metadata and each section are files. Package encoding describes log types and
// variables. The format is that of https://github.com/y-scope/clp (components/core/src/clp_s). A version above 0.5 is read
// as if it were 0.5.1, as the reference does; [Version.Known] says whether to trust that. Versions below 0.4.0 encode
// variables in another way and are refused.
//
// # What the format loses
//
// The format itself loses the order of members that first came in another order in the same archive, an object that is
// entered twice, and all but the first of a key's values of the same type; archives of the reference also lose the sign
// of the integer -0 and have integers of 2⁶³ and more negative. Archives that are written here keep all that: numbers
// beyond int64 and -0 by their text, which other programs print as it is, and the rest in a side channel, which other
// programs do not see: they show members in the order that suits most records, and the first of a key's
// values. Reading here gives the event that was written. Only the spelling of strings (\u0041 for A) and white space
// outside of arrays are lost, and halves of surrogate pairs are U+FFFD; in arrays that are kept as text, nothing is.
//
// # Writing
//
// A Writer takes records apart as they come. Each column is compressed in frames of 65,536 rows, and each dictionary in frames
// of about half a megabyte, so that a reader can decode what it needs; the index says where that is. Of the entries of
// dictionaries the writer keeps hashes of 96 bits and no text. With WriterOptions.Concurrency of two and more, another
// goroutine fills columns and looks up strings, and frames are compressed by whoever has time.
//
// Keys that a logging library made by itself can stand apart from the user's, under a root of their own, as CLP's key-value streams
// have them: Writer.WriteAuto, Row.Auto, Record.AppendAuto.
//
// With Options.Plain records are shown as other programs show them.
//
// # Parts
//
// [Reader.Project] decodes only some keys, [Reader.SeekRecord] and [Reader.SeekTime] go to a record, [Reader.Select] leaves
// out what a condition rules out, [Reader.Keys] says what each key takes. [OpenSet] reads several archives as one log.
//
// # Order and memory
//
// Records of one schema lie together, so that the order of the log must be restored: all tables are merged by the number
// of the record. That needs a place in every column of every table at once. Archives that are written here have an index of
// independent frames, 65,536 rows of a column each: a frame is decompressed when the records come to it, and let go behind
// them, and so are those of the dictionaries. The streams of other archives can only be read from their start. The reader
// decompresses each once, and what does not fit into Options.Memory it compresses again, in small pages of which any can
// be had back. Options.Stored saves that where the order does not matter.
//
// A Reader of a large archive has goroutines that decompress and make records ahead, as Options.Parallel says; Close ends
// them. What they may be ahead is bounded.
//
// # Errors
//
// Damage is a *[CorruptError] with the section and the place. Damage of the header, the metadata, the tree, or the lists
// of schemas and tables is an error of Open. Damage elsewhere spares what is whole: records of other tables, and records
// of the table that do not need the value that is damaged. Input is not trusted: nothing is allocated from a length that the
// input has not backed with bytes, and what the whole archive may take is limited (*[LimitError]). The format has no
// checksums; a changed byte that decompresses to something sensible is not noticed unless the writer added some, as
// this package does, those of zstd or, in small archives, in the header: of its archives, records are right or missing with an error, and with an index a damaged frame takes no
// others with it than the rows that it is of. A damaged index is not used. Of a damaged side channel, records are as with
// Options.Plain.
package archive
