// Package srcmap finds out which line of a compiled kernel came from which line of its source, for every stage that a
// Triton compiler leaves behind: MLIR (TTIR, TTGIR and relatives), LLVM IR, PTX, AMDGCN and SASS.
//
// Each stage carries the places in its own notation; a Builder reads the stages in the order of compilation and joins
// them: lines of two stages that came from the same place belong together.
//
//	b := srcmap.Builder{LLVM: true}
//	b.Add(srcmap.MLIR, "ttir", ttir)
//	b.Add(srcmap.PTX, "ptx", ptx)
//	b.Join()
//	b.AppendJSON(&text, srcmap.Python{Known: true, File: "/u/k.py"})
//
// The notations are those of MLIR's location attributes (mlir.llvm.org/docs/Dialects/Builtin), LLVM's debug metadata
// (llvm.org/docs/LangRef, "Specialized Metadata Nodes"), the .loc directives of LLVM's assembly printers, and the
// //## comments of nvdisasm.
package srcmap
